// What device memory holds before the first write: never zeros, so that a program cannot mistake it for a result.
#pragma once

namespace warpgrade::device {

inline constexpr unsigned char fresh_byte = 0xCD;

}  // namespace warpgrade::device

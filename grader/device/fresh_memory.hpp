// What device memory holds before anything wrote it: a pattern that no program takes for a result, never zeros.
#pragma once

namespace warpgrade::device {

inline constexpr unsigned char fresh_byte = 0xCD;

}  // namespace warpgrade::device

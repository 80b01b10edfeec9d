// What device memory holds before the first write: never zeros, so that a program cannot mistake it for a result.
#pragma once

namespace warpgrade::device {

inline constexpr unsigned char fresh_byte = 0xCD;
// What a register holds. As a float it is so large that a sum which begins with it keeps it.
inline constexpr unsigned char fresh_register_byte = 0xF1;

}  // namespace warpgrade::device

// The virtual GPU's generic address space. Every state space has a range of its own, so that a generic address says by
// itself what it points to, and none of the ranges is ever mapped in a host process: host code that dereferences a
// device pointer faults, and the fault's address tells why.
#pragma once

#include <cstdint>

namespace warpgrade::device::address_space {

inline constexpr std::uint64_t shared_base = 0x0100'0000'0000, local_base = 0x0200'0000'0000,
                               const_base = 0x0300'0000'0000, param_base = 0x0400'0000'0000,
                               global_base = 0x0700'0000'0000, global_end = 0x0780'0000'0000;
inline constexpr std::uint64_t code_base = 0x0500'0000'0000;  // addresses of device functions
inline constexpr std::uint64_t window = 0x0100'0000'0000;     // size of each range below global_base

constexpr bool is_device_address(std::uint64_t address) { return address >= shared_base && address < global_end; }

}  // namespace warpgrade::device::address_space

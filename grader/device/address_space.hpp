// The virtual GPU's generic address space. Every state space has its own range, so an address alone tells its state
// space. A host process maps only the host-visible range: host code that dereferences another device pointer faults,
// and the fault's address tells why.
#pragma once

#include <cstdint>

namespace warpgrade::device::address_space {

inline constexpr std::uint64_t shared_base = 0x0100'0000'0000, local_base = 0x0200'0000'0000,
                               const_base = 0x0300'0000'0000, param_base = 0x0400'0000'0000,
                               global_base = 0x0700'0000'0000, global_end = 0x0780'0000'0000;
// Page-locked and managed memory, which the host maps at the same address. Linux maps nothing else there. Memory that
// the program registers keeps its own address, outside all these ranges.
inline constexpr std::uint64_t host_base = global_end, host_end = 0x1000'0000'0000;
inline constexpr std::uint64_t code_base = 0x0500'0000'0000;  // addresses of device functions
inline constexpr std::uint64_t window = 0x0100'0000'0000;     // size of each range below global_base
inline constexpr std::uint64_t page_bytes = 4096;             // of the host
inline constexpr std::uint64_t user_end = 0x7FFF'FFFF'F000;   // of a process's addresses on x86-64

// Device memory that the host cannot reach.
constexpr bool is_device_address(std::uint64_t address) { return address >= shared_base && address < global_end; }
// PTX calls an address global if it is in no other state space's window.
constexpr bool is_global(std::uint64_t address) { return address < shared_base || address >= param_base + window; }

}  // namespace warpgrade::device::address_space

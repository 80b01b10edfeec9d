// Reads from a cubin the resources that ptxas gave each kernel. Occupancy depends on them, and PTX does not have them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace warpgrade::vgpu {

struct KernelResources {
    std::string name;  // mangled
    std::uint32_t registers_per_thread = 0;
    std::uint32_t static_shared_bytes = 0;     // as `ptxas -v` prints it: without what the system reserves
    std::uint32_t local_bytes_per_thread = 0;  // stack frame, including called functions if their size is known
};

// Returns kernels in the order of their code sections. Throws FatbinError if it is not a cubin or malformed.
std::vector<KernelResources> read_cubin(std::span<const std::uint8_t> cubin);

// False for the empty cubin that every executable carries. True for an unreadable one, to be safe.
bool has_kernels(std::span<const std::uint8_t> cubin);

}  // namespace warpgrade::vgpu

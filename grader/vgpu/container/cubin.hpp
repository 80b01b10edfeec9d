// Reads the resources that ptxas gave each kernel from a cubin: what occupancy depends on, and PTX does not tell.
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
    std::uint32_t local_bytes_per_thread = 0;  // stack frame with those of the functions it calls, when that is known
};

// Kernels in the order of their code sections. Throws FatbinError when it is no cubin, or a malformed one.
std::vector<KernelResources> read_cubin(std::span<const std::uint8_t> cubin);

// False for the empty cubin that every executable carries; true, to be safe, for one that cannot be read.
bool has_kernels(std::span<const std::uint8_t> cubin);

}  // namespace warpgrade::vgpu

// A real NVIDIA GPU, on the CUDA driver API. It has no analysis: it gives results and times.
//
// Work is asynchronous, as on the GPU: a kernel's fault is thrown by a later call that waits. Each server process has
// its own context, which ends with it.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.hpp"

namespace warpgrade::gpu {

struct CudaGpuOptions {
    std::uint64_t memory_limit_bytes = 0;  // 0: all of the GPU's
    bool take_stdout = true;               // to catch what kernels print; without it, take_output() gives nothing
};

// `which` counts the machine's GPUs from 0. Throws std::runtime_error, in one line, if there is no such GPU.
std::unique_ptr<device::Device> make_cuda_gpu(unsigned which, const CudaGpuOptions& options);

}  // namespace warpgrade::gpu

// Launches of the driver API. Compiled once for each meaning of stream 0.
#include "cudart/driver/driver.hpp"
#include "cudart/state/registry.hpp"

using namespace warpgrade::cudart;

namespace {

// What `extra` holds: one buffer of all arguments, as the kernel lays them out.
cudaError_t take_extra(CUfunction function, void** extra, std::vector<void*>& arguments) {
    char* buffer = nullptr;
    std::size_t bytes = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = static_cast<char*>(extra[1]);
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1] != nullptr)
            bytes = *static_cast<const std::size_t*>(extra[1]);
        else
            return cudaErrorInvalidValue;
    }
    return device_api([&](Connection&) -> cudaError_t {
        Kernel* kernel = nullptr;
        const cudaError_t status = Registry::get().find_kernel(as_symbol(function), kernel);
        if (status != cudaSuccess) return status;
        for (const auto& param : kernel->info.params) {
            if (buffer == nullptr || param.offset > bytes || param.bytes > bytes - param.offset)
                return cudaErrorInvalidValue;
            arguments.push_back(buffer + param.offset);
        }
        return cudaSuccess;
    });
}

CUresult launch(const CUlaunchConfig& config, CUfunction function, void** arguments, void** extra) {
    return in_context([&]() -> cudaError_t {
        std::vector<void*> taken;
        if (extra != nullptr) {
            if (arguments != nullptr) return cudaErrorInvalidValue;
            if (const cudaError_t status = take_extra(function, extra, taken); status != cudaSuccess) return status;
            arguments = taken.data();
        }
        cudaLaunchConfig_t same{};
        same.gridDim = {config.gridDimX, config.gridDimY, config.gridDimZ};
        same.blockDim = {config.blockDimX, config.blockDimY, config.blockDimZ};
        same.dynamicSmemBytes = config.sharedMemBytes;
        same.stream = config.hStream;
        same.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs);
        same.numAttrs = config.numAttrs;
        return cudaLaunchKernelExC(&same, as_symbol(function), arguments);
    });
}

}  // namespace

CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                unsigned int shared_bytes, CUstream stream, void** arguments, void** extra) {
    const CallSite site;
    const CUlaunchConfig config{grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, nullptr, 0};
    return launch(config, function, arguments, extra);
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
    const CallSite site;
    return config == nullptr ? CUDA_ERROR_INVALID_VALUE : launch(*config, function, arguments, extra);
}

CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                           unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                           unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                           void** arguments) {
    const CallSite site;
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    const CUlaunchConfig config{grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, &attribute, 1};
    return launch(config, function, arguments, nullptr);
}

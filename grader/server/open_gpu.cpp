// Of the program warpgrade-gpu.
#include <charconv>
#include <stdexcept>

#include "gpu/cuda_gpu.hpp"
#include "server/open.hpp"

namespace warpgrade::server {

bool opens(std::string_view kind) { return kind == "gpu"; }

std::unique_ptr<Device> open_device(const std::string& spec, const DeviceOptions& options) {
    const auto [kind, which] = split_spec(spec);
    if (!opens(kind)) throw std::invalid_argument("unknown device '" + spec + "'; use gpu[:NUMBER]");
    unsigned number = 0;
    const auto [end, status] = std::from_chars(which.data(), which.data() + which.size(), number);
    if (!which.empty() && (status != std::errc() || end != which.data() + which.size()))
        throw std::invalid_argument("a GPU is named by its number: gpu:0");
    gpu::CudaGpuOptions gpu;
    gpu.memory_limit_bytes = options.memory_limit_bytes;
    return gpu::make_cuda_gpu(number, gpu);
}

}  // namespace warpgrade::server

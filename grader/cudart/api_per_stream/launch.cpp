// Kernel launches. Compiled once for each meaning of stream 0.
#include "cudart/client/call_site.hpp"
#include "cudart/client/errors.hpp"
#include "cudart/state/handles.hpp"
#include "cudart/state/registry.hpp"
#include "cudart/stream/capture.hpp"

using namespace warpgrade::cudart;

namespace {

struct Launch {
    dim3 grid, block;
    std::size_t shared_bytes = 0;
    cudaStream_t stream = nullptr;
    bool cooperative = false;
};

cudaError_t launch(const LaunchSite& site, const void* function, const Launch& what, void** arguments) {
    std::uint32_t failed = 0;
    const cudaError_t result = device_api([&](Connection& connection) -> cudaError_t {
        KernelWork work;
        std::uint32_t stream = 0;
        if (const cudaError_t status = Registry::get().find_kernel(function, work.kernel); status != cudaSuccess)
            return status;
        if (const cudaError_t status = resolve(what.stream, default_stream, stream); status != cudaSuccess)
            return status;
        work.function = function;
        work.grid = what.grid, work.block = what.block;
        work.shared_bytes = what.shared_bytes, work.cooperative = what.cooperative;
        if (const cudaError_t status = work.take_arguments(arguments); status != cudaSuccess) return status;
        if (CapturingStream* capture = find_capture(stream)) return capture_work(*capture, std::move(work));
        if (const cudaError_t status = check_legacy_stream(stream); status != cudaSuccess) return status;
        const std::uint32_t before = connection.last_request();
        const cudaError_t status = send_launch(work, stream);
        // The error of a <<<…>>> is only visible by cudaGetLastError.
        if (status != cudaSuccess && connection.last_request() != before) {
            if (site.has_no_result())
                failed = connection.last_request();
            else
                connection.call(Op::look_at_launch, Writer().put(connection.last_request()));
        }
        return status;
    });
    if (failed != 0) remember_launch(failed);
    return result;
}

}  // namespace

cudaError_t CUDARTAPI cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                       std::size_t shared_bytes, cudaStream_t stream) {
    const LaunchSite site;
    return launch(site, function, {grid, block, shared_bytes, stream}, arguments);
}

cudaError_t CUDARTAPI cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                                  std::size_t shared_bytes, cudaStream_t stream) {
    const LaunchSite site;
    return launch(site, function, {grid, block, shared_bytes, stream, true}, arguments);
}

cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
    const LaunchSite site;
    if (config == nullptr || (config->attrs == nullptr && config->numAttrs > 0)) return remember(cudaErrorInvalidValue);
    Launch what{config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream};
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        const cudaLaunchAttribute& attribute = config->attrs[i];
        switch (attribute.id) {
            case cudaLaunchAttributeCooperative:
                what.cooperative = attribute.val.cooperative != 0;
                break;
            case cudaLaunchAttributeIgnore:  // this and attributes that only affect a real device's speed
            case cudaLaunchAttributeAccessPolicyWindow:
            case cudaLaunchAttributePriority:
            case cudaLaunchAttributePreferredSharedMemoryCarveout:
            case cudaLaunchAttributeProgrammaticStreamSerialization:
                break;
            case cudaLaunchAttributeClusterDimension:
                if (attribute.val.clusterDim.x * attribute.val.clusterDim.y * attribute.val.clusterDim.z == 1) break;
                return remember(not_supported("thread block clusters"));
            default:
                return remember(not_supported("this attribute of cudaLaunchKernelEx"));
        }
    }
    return launch(site, function, what, arguments);
}

// nvcc translates <<<…>>> to these calls. The header declares them for nvcc only.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define WG_STUB_LAUNCH __cudaLaunchKernel_ptsz
#else
#define WG_STUB_LAUNCH __cudaLaunchKernel
#endif
extern "C" cudaError_t WG_STUB_LAUNCH(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                      std::size_t shared_bytes, cudaStream_t stream) {
    const LaunchSite site;
    return launch(site, reinterpret_cast<const void*>(kernel), {grid, block, shared_bytes, stream}, arguments);
}

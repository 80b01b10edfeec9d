// Attributes of streams: hints without effect here, which can be read back. Compiled once for each meaning of stream 0.
#include "cudart/client/errors.hpp"
#include "cudart/state/handles.hpp"

using namespace warpgrade::cudart;

namespace {

template <class Body>
cudaError_t with_attributes(cudaStream_t stream, Body&& body) {
    return device_api([&](Connection&) -> cudaError_t {
        std::uint32_t id = 0;
        if (const cudaError_t status = resolve(stream, default_stream, id); status != cudaSuccess) return status;
        return body(stream_attributes(id));
    });
}

}  // namespace

cudaError_t CUDARTAPI cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID which,
                                             const cudaLaunchAttributeValue* value) {
    return with_attributes(stream, [&](StreamAttributes& attributes) {
        if (value == nullptr) return cudaErrorInvalidValue;
        switch (which) {
            case cudaLaunchAttributeAccessPolicyWindow:
                return attributes.window = value->accessPolicyWindow, cudaSuccess;
            case cudaLaunchAttributeSynchronizationPolicy:
                return attributes.synchronization = value->syncPolicy, cudaSuccess;
            case cudaLaunchAttributePriority:
                return attributes.priority = value->priority, cudaSuccess;
            case cudaLaunchAttributeMemSyncDomain:
            case cudaLaunchAttributeMemSyncDomainMap:
                return cudaSuccess;
            default:
                return cudaErrorInvalidValue;
        }
    });
}

cudaError_t CUDARTAPI cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID which,
                                             cudaLaunchAttributeValue* value) {
    return with_attributes(stream, [&](const StreamAttributes& attributes) {
        if (value == nullptr) return cudaErrorInvalidValue;
        switch (which) {
            case cudaLaunchAttributeAccessPolicyWindow:
                return value->accessPolicyWindow = attributes.window, cudaSuccess;
            case cudaLaunchAttributeSynchronizationPolicy:
                return value->syncPolicy = attributes.synchronization, cudaSuccess;
            case cudaLaunchAttributePriority:
                return value->priority = attributes.priority, cudaSuccess;
            default:
                return cudaErrorInvalidValue;
        }
    });
}

cudaError_t CUDARTAPI cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    return with_attributes(from, [&](const StreamAttributes& source) {
        return with_attributes(to, [&](StreamAttributes& target) { return target = source, cudaSuccess; });
    });
}

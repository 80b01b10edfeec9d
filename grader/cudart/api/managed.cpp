// Managed memory and advice about it. Host and device always share its pages, so advice has no effect, but can be read
// back.
#include "cudart/client/call_site.hpp"
#include "cudart/client/errors.hpp"
#include "cudart/state/host_memory.hpp"

using namespace warpgrade::cudart;

cudaError_t CUDARTAPI cudaMallocManaged(void** pointer, std::size_t bytes, unsigned int flags) {
    const CallSite site;
    return device_api([&](Connection&) -> cudaError_t {
        if (pointer == nullptr || bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
            return cudaErrorInvalidValue;
        return allocate_host_range(bytes, HostRange::Kind::managed, flags, "cudaMallocManaged", pointer);
    });
}

namespace {

// The managed range with [pointer, pointer + bytes), or null.
HostRange* managed_range(const void* pointer, std::size_t bytes) {
    auto* found = find_host_range(pointer);
    if (found == nullptr || found->second.kind != HostRange::Kind::managed) return nullptr;
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(pointer) - found->first;
    return bytes <= found->second.bytes - offset ? &found->second : nullptr;
}

// A place as the older attributes have it: a device's number or one of two special numbers.
int number_of(const cudaMemLocation& location) {
    if (location.type == cudaMemLocationTypeDevice) return location.id;
    return location.type == cudaMemLocationTypeInvalid ? cudaInvalidDeviceId : cudaCpuDeviceId;
}

cudaError_t get_accessors(const HostRange& range, void* data, std::size_t bytes) {
    if (bytes == 0 || bytes % sizeof(int) != 0) return cudaErrorInvalidValue;
    auto* list = static_cast<int*>(data);
    std::size_t count = 0;
    const std::size_t room = bytes / sizeof(int);
    if (range.accessed_by_device != 0 && count < room) list[count++] = 0;
    if (range.accessed_by_host != 0 && count < room) list[count++] = cudaCpuDeviceId;
    while (count < room) list[count++] = cudaInvalidDeviceId;
    return cudaSuccess;
}

cudaError_t get_attribute(const HostRange& range, cudaMemRangeAttribute attribute, void* data, std::size_t bytes) {
    if (data == nullptr) return cudaErrorInvalidValue;
    if (attribute == cudaMemRangeAttributeAccessedBy) return get_accessors(range, data, bytes);
    if (bytes != sizeof(int)) return cudaErrorInvalidValue;
    const auto answer = [&](int value) { return *static_cast<int*>(data) = value, cudaSuccess; };
    switch (attribute) {
        case cudaMemRangeAttributeReadMostly:
            return answer(range.read_mostly ? 1 : 0);
        case cudaMemRangeAttributePreferredLocation:
            return answer(number_of(range.preferred));
        case cudaMemRangeAttributeLastPrefetchLocation:
            return answer(number_of(range.prefetched));
        case cudaMemRangeAttributePreferredLocationType:
            return answer(range.preferred.type);
        case cudaMemRangeAttributePreferredLocationId:
            return answer(range.preferred.id);
        case cudaMemRangeAttributeLastPrefetchLocationType:
            return answer(range.prefetched.type);
        case cudaMemRangeAttributeLastPrefetchLocationId:
            return answer(range.prefetched.id);
        default:
            return cudaErrorInvalidValue;
    }
}

}  // namespace

cudaError_t CUDARTAPI cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                                    cudaMemLocation location) {
    return device_api([&](Connection&) -> cudaError_t {
        HostRange* range = managed_range(pointer, bytes);
        if (range == nullptr || bytes == 0) return cudaErrorInvalidValue;
        const bool needs_place = advice == cudaMemAdviseSetPreferredLocation || advice == cudaMemAdviseSetAccessedBy ||
                                 advice == cudaMemAdviseUnsetAccessedBy;
        if (needs_place && !is_place(location)) return cudaErrorInvalidDevice;
        auto& accessed =
            location.type == cudaMemLocationTypeDevice ? range->accessed_by_device : range->accessed_by_host;
        switch (advice) {
            case cudaMemAdviseSetReadMostly:
                return range->read_mostly = true, cudaSuccess;
            case cudaMemAdviseUnsetReadMostly:
                return range->read_mostly = false, cudaSuccess;
            case cudaMemAdviseSetPreferredLocation:
                return range->preferred = location, cudaSuccess;
            case cudaMemAdviseUnsetPreferredLocation:
                return range->preferred = {cudaMemLocationTypeInvalid, 0}, cudaSuccess;
            case cudaMemAdviseSetAccessedBy:
                return accessed = 1, cudaSuccess;
            case cudaMemAdviseUnsetAccessedBy:
                return accessed = 0, cudaSuccess;
        }
        return cudaErrorInvalidValue;
    });
}

cudaError_t CUDARTAPI cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, cudaMemRangeAttribute attribute,
                                               const void* pointer, std::size_t bytes) {
    return device_api([&](Connection&) -> cudaError_t {
        const HostRange* range = managed_range(pointer, bytes);
        if (range == nullptr || bytes == 0) return cudaErrorInvalidValue;
        return get_attribute(*range, attribute, data, data_bytes);
    });
}

cudaError_t CUDARTAPI cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes, cudaMemRangeAttribute* attributes,
                                                std::size_t count, const void* pointer, std::size_t bytes) {
    return device_api([&](Connection&) -> cudaError_t {
        const HostRange* range = managed_range(pointer, bytes);
        if (range == nullptr || bytes == 0 || count == 0 || data == nullptr || data_bytes == nullptr ||
            attributes == nullptr)
            return cudaErrorInvalidValue;
        for (std::size_t i = 0; i < count; ++i) {
            const cudaError_t status = get_attribute(*range, attributes[i], data[i], data_bytes[i]);
            if (status != cudaSuccess) return status;
        }
        return cudaSuccess;
    });
}

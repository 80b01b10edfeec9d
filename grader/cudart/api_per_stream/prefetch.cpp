// Prefetches and advice about managed memory in a stream. Compiled once for each meaning of stream 0.
#include "cudart/client/errors.hpp"
#include "cudart/state/handles.hpp"
#include "cudart/state/host_memory.hpp"

using namespace warpgrade::cudart;

cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location,
                                           unsigned int flags, cudaStream_t stream) {
    return device_api([&](Connection& connection) -> cudaError_t {
        std::uint32_t id = 0;
        if (const cudaError_t status = resolve(stream, default_stream, id); status != cudaSuccess) return status;
        auto* found = find_host_range(pointer);
        if (found == nullptr || found->second.kind != HostRange::Kind::managed || flags != 0 || bytes == 0)
            return cudaErrorInvalidValue;
        if (bytes > found->second.bytes - (reinterpret_cast<std::uintptr_t>(pointer) - found->first))
            return cudaErrorInvalidValue;
        if (!is_place(location)) return cudaErrorInvalidDevice;
        found->second.prefetched = location;
        const bool to_device = location.type == cudaMemLocationTypeDevice;
        return connection.call(Op::prefetch, Writer()
                                                 .put(std::uint64_t{reinterpret_cast<std::uintptr_t>(pointer)})
                                                 .put(std::uint64_t{bytes})
                                                 .put(std::uint8_t{to_device}));
    });
}

cudaError_t CUDARTAPI cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t bytes,
                                               unsigned int flags) {
    return device_api([&](Connection&) -> cudaError_t {
        std::uint32_t id = 0;
        if (const cudaError_t status = resolve(stream, default_stream, id); status != cudaSuccess) return status;
        const auto* found = find_host_range(pointer);
        const bool whole = found != nullptr && found->second.kind == HostRange::Kind::managed &&
                           reinterpret_cast<std::uintptr_t>(pointer) == found->first &&
                           (bytes == 0 || bytes == found->second.bytes);
        const bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
        return whole && known ? cudaSuccess : cudaErrorInvalidValue;
    });
}

#include "cudart/stream/work.hpp"

#include <algorithm>
#include <cstring>

namespace warpgrade::cudart {

cudaError_t KernelWork::take_arguments(void* const* from) {
    const auto& info = kernel->info;
    arguments.assign(info.param_bytes, std::byte{});
    if (from == nullptr) return info.params.empty() ? cudaSuccess : cudaErrorInvalidValue;
    for (std::size_t i = 0; i < info.params.size(); ++i)
        std::memcpy(arguments.data() + info.params[i].offset, from[i], info.params[i].bytes);
    return cudaSuccess;
}

void KernelWork::point_to_arguments() {
    pointers.clear();
    for (const auto& param : kernel->info.params) pointers.push_back(arguments.data() + param.offset);
}

cudaError_t send_launch(const KernelWork& work, std::uint32_t stream) {
    Writer request;
    request.put(work.kernel->id);
    for (const dim3& size : {work.grid, work.block}) request.put(size.x).put(size.y).put(size.z);
    request.put(std::uint64_t{work.shared_bytes}).put(stream).put(std::uint8_t{work.cooperative});
    request.put_bytes(work.arguments);
    return Connection::get().call(Op::launch, request);
}

cudaError_t announce_host_function(std::uint32_t stream) {
    return Connection::get().call(Op::host_function, Writer().put(stream));
}

cudaMemcpy3DParms make_row_copy(void* destination, std::size_t destination_pitch, const void* source,
                                std::size_t source_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    cudaMemcpy3DParms copy{};
    copy.dstPtr = {destination, std::max(destination_pitch, width), width, height};
    copy.srcPtr = {const_cast<void*>(source), std::max(source_pitch, width), width, height};
    copy.extent = {width, height, 1};
    copy.kind = kind;
    return copy;
}

}  // namespace warpgrade::cudart

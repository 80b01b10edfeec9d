// Page-locked host memory. Here it is ordinary memory whose ranges are known, so that copies get the full rate of the
// link; kernels cannot reach it.
#include <cstdlib>
#include <map>

#include "cudart/errors.hpp"
#include "cudart/transfer.hpp"

namespace {

struct Range {
    std::size_t bytes = 0;
    bool ours = false;  // allocated here, not registered by the program
};

std::map<std::uintptr_t, Range>& pinned() {
    static auto& ranges = *new std::map<std::uintptr_t, Range>;
    return ranges;
}

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

namespace warpgrade::cudart {

bool is_pinned(const void* pointer) {
    const std::uintptr_t address = address_of(pointer);
    auto after = pinned().upper_bound(address);
    if (after == pinned().begin()) return false;
    --after;
    return address - after->first < after->second.bytes;
}

}  // namespace warpgrade::cudart

using namespace warpgrade::cudart;

cudaError_t CUDARTAPI cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
    return device_api([&](Connection&) -> cudaError_t {
        constexpr unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
        if (pointer == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
        *pointer = nullptr;
        if (bytes == 0) return cudaSuccess;
        if (posix_memalign(pointer, 4096, bytes) != 0) return cudaErrorMemoryAllocation;
        pinned()[address_of(*pointer)] = {bytes, true};
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaMallocHost(void** pointer, std::size_t bytes) {
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t CUDARTAPI cudaFreeHost(void* pointer) {
    return device_api([&](Connection&) -> cudaError_t {
        if (pointer == nullptr) return cudaSuccess;
        const auto found = pinned().find(address_of(pointer));
        if (found == pinned().end() || !found->second.ours) return cudaErrorInvalidValue;
        pinned().erase(found);
        std::free(pointer);
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaHostRegister(void* pointer, std::size_t bytes, unsigned int) {
    return device_api([&](Connection&) -> cudaError_t {
        if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
        if (is_pinned(pointer)) return cudaErrorHostMemoryAlreadyRegistered;
        pinned()[address_of(pointer)] = {bytes, false};
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaHostUnregister(void* pointer) {
    return device_api([&](Connection&) -> cudaError_t {
        const auto found = pinned().find(address_of(pointer));
        if (found == pinned().end() || found->second.ours) return cudaErrorHostMemoryNotRegistered;
        pinned().erase(found);
        return cudaSuccess;
    });
}

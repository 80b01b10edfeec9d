#include "cudart/state/pools.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_map>

#include "cudart/client/errors.hpp"

namespace warpgrade::cudart {
namespace {

constexpr std::uint64_t chunk = std::uint64_t{32} << 20;  // a real pool's unit of memory from the device

struct Block {
    cudaMemPool_t pool = nullptr;
    std::uint64_t bytes = 0;
};

struct Pools {
    CUmemPoolHandle_st standard;
    CUmemPoolHandle_st graphs;  // whose memory graphs allocate
    cudaMemPool_t current = &standard;
    std::unordered_map<cudaMemPool_t, std::unique_ptr<CUmemPoolHandle_st>> created;
    std::unordered_map<const void*, Block> blocks;
    std::unordered_map<const void*, std::uint64_t> reserved;  // bytes
    GraphMemory graph_memory;
};

Pools& pools() {
    static Pools& all = *new Pools;
    return all;
}

std::uint64_t whole_chunks(std::uint64_t bytes) { return (bytes + chunk - 1) / chunk * chunk; }

void record_allocation(cudaMemPool_t pool, std::uint64_t bytes, const void* pointer) {
    pools().blocks[pointer] = {pool, bytes};
    pool->used += bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
    pool->reserved = std::max(pool->reserved, whole_chunks(pool->used));
    pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
}

}  // namespace

cudaMemPool_t current_pool() { return pools().current; }

GraphMemory& graph_memory() { return pools().graph_memory; }

void GraphMemory::grow(std::uint64_t live) {
    used = std::max(used, live);
    used_high = std::max(used_high, used);
    reserved_high = std::max(reserved_high, reserved());
}

std::uint64_t GraphMemory::reserved() const { return whole_chunks(used); }

bool is_pool(cudaMemPool_t pool) { return pool == &pools().standard || pools().created.count(pool) != 0; }

cudaError_t allocate_from(cudaMemPool_t pool, std::size_t bytes, void** pointer) {
    if (pointer == nullptr || !is_pool(pool)) return cudaErrorInvalidValue;
    const cudaError_t status = cudaMalloc(pointer, bytes);
    if (status != cudaSuccess || *pointer == nullptr) return status;
    record_allocation(pool, bytes, *pointer);
    return cudaSuccess;
}

cudaError_t reserve_for_graph(std::size_t bytes, const char* origin, void** pointer) {
    std::uint64_t address = 0;
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    const cudaError_t status =
        Connection::get().call_for(Op::reserve_memory, Writer().put(std::uint64_t{bytes}).put_string(origin), address);
    if (status != cudaSuccess) return status;
    *pointer = reinterpret_cast<void*>(address);
    pools().reserved[*pointer] = bytes;
    return cudaSuccess;
}

bool is_reserved(const void* pointer) { return pools().reserved.count(pointer) != 0; }
bool is_allocated(const void* pointer) { return pools().blocks.count(pointer) != 0; }

cudaError_t allocate_reserved(void* pointer) {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
    const cudaError_t status = Connection::get().call(Op::allocate_reserved, Writer().put(address));
    if (status != cudaSuccess) return status;
    record_allocation(&pools().graphs, pools().reserved.at(pointer), pointer);
    graph_memory().grow(pools().graphs.used);
    return cudaSuccess;
}

void record_free(const void* pointer) {
    const auto found = pools().blocks.find(pointer);
    if (found == pools().blocks.end()) return;
    if (found->second.pool == &pools().graphs || is_pool(found->second.pool))
        found->second.pool->used -= found->second.bytes;
    pools().blocks.erase(found);
}

void forget_pools() {
    pools().created.clear();
    pools().blocks.clear();
    pools().reserved.clear();
    pools().graph_memory = {};
    pools().standard = pools().graphs = {};
    pools().current = &pools().standard;
}

}  // namespace warpgrade::cudart

using namespace warpgrade::cudart;

namespace {

bool is_our_device(const cudaMemLocation* location, cudaMemAllocationType type) {
    return location != nullptr && location->type == cudaMemLocationTypeDevice && location->id == 0 &&
           type == cudaMemAllocationTypePinned;
}

cudaError_t give_pool(cudaMemPool_t* result, int device, cudaMemPool_t pool) {
    if (result == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *result = pool;
    return cudaSuccess;
}

template <class Body>
cudaError_t with_pool(cudaMemPool_t pool, Body&& body) {
    return device_api([&](Connection&) -> cudaError_t { return is_pool(pool) ? body() : cudaErrorInvalidValue; });
}

}  // namespace

cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    return device_api([&](Connection&) { return give_pool(pool, device, &pools().standard); });
}

cudaError_t CUDARTAPI cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    return device_api([&](Connection&) { return give_pool(pool, device, pools().current); });
}

cudaError_t CUDARTAPI cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return with_pool(pool, [&] {
        if (device != 0) return cudaErrorInvalidDevice;
        pools().current = pool;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                               cudaMemAllocationType type) {
    return device_api([&](Connection&) {
        return is_our_device(location, type) ? give_pool(pool, 0, &pools().standard) : cudaErrorInvalidValue;
    });
}

cudaError_t CUDARTAPI cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
    return device_api([&](Connection&) {
        return is_our_device(location, type) ? give_pool(pool, 0, pools().current) : cudaErrorInvalidValue;
    });
}

cudaError_t CUDARTAPI cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t pool) {
    return with_pool(pool, [&] {
        if (!is_our_device(location, type)) return cudaErrorInvalidValue;
        pools().current = pool;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
    return device_api([&](Connection&) -> cudaError_t {
        if (pool == nullptr || properties == nullptr || properties->allocType != cudaMemAllocationTypePinned)
            return cudaErrorInvalidValue;
        if (properties->handleTypes != cudaMemHandleTypeNone) return not_supported("memory pools for other processes");
        if (properties->location.type != cudaMemLocationTypeDevice) return not_supported("memory pools of host memory");
        if (properties->location.id != 0) return cudaErrorInvalidDevice;
        auto made = std::make_unique<CUmemPoolHandle_st>();
        *pool = made.get();
        pools().created[*pool] = std::move(made);
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t pool) {
    return device_api([&](Connection&) {
        if (pools().created.erase(pool) == 0) return cudaErrorInvalidValue;  // the default pool cannot be destroyed
        if (pools().current == pool) pools().current = &pools().standard;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes) {
    return with_pool(pool, [&] {
        pool->reserved = std::min(pool->reserved, whole_chunks(std::max<std::uint64_t>(pool->used, bytes)));
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return with_pool(pool, [&]() -> cudaError_t {
        if (value == nullptr) return cudaErrorInvalidValue;
        const auto number = [&] { return *static_cast<const int*>(value); };
        const auto bytes = [&] { return *static_cast<const std::uint64_t*>(value); };
        switch (attribute) {
            case cudaMemPoolReuseFollowEventDependencies:
                return pool->reuse_follow_events = number(), cudaSuccess;
            case cudaMemPoolReuseAllowOpportunistic:
                return pool->reuse_opportunistic = number(), cudaSuccess;
            case cudaMemPoolReuseAllowInternalDependencies:
                return pool->reuse_internal_dependencies = number(), cudaSuccess;
            case cudaMemPoolAttrReleaseThreshold:
                return pool->release_threshold = bytes(), cudaSuccess;
            case cudaMemPoolAttrReservedMemHigh:  // a reset of the high-water mark
                if (bytes() != 0) return cudaErrorInvalidValue;
                return pool->reserved_high = pool->reserved, cudaSuccess;
            case cudaMemPoolAttrUsedMemHigh:
                if (bytes() != 0) return cudaErrorInvalidValue;
                return pool->used_high = pool->used, cudaSuccess;
            default:
                return cudaErrorInvalidValue;
        }
    });
}

cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return with_pool(pool, [&]() -> cudaError_t {
        if (value == nullptr) return cudaErrorInvalidValue;
        const auto number = [&](int what) { return *static_cast<int*>(value) = what, cudaSuccess; };
        const auto bytes = [&](std::uint64_t what) { return *static_cast<std::uint64_t*>(value) = what, cudaSuccess; };
        switch (attribute) {
            case cudaMemPoolReuseFollowEventDependencies:
                return number(pool->reuse_follow_events);
            case cudaMemPoolReuseAllowOpportunistic:
                return number(pool->reuse_opportunistic);
            case cudaMemPoolReuseAllowInternalDependencies:
                return number(pool->reuse_internal_dependencies);
            case cudaMemPoolAttrReleaseThreshold:
                return bytes(pool->release_threshold);
            case cudaMemPoolAttrReservedMemCurrent:
                return bytes(pool->reserved);
            case cudaMemPoolAttrReservedMemHigh:
                return bytes(pool->reserved_high);
            case cudaMemPoolAttrUsedMemCurrent:
                return bytes(pool->used);
            case cudaMemPoolAttrUsedMemHigh:
                return bytes(pool->used_high);
            default:
                return cudaErrorInvalidValue;
        }
    });
}

cudaError_t CUDARTAPI cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, std::size_t count) {
    return with_pool(pool, [&]() -> cudaError_t {
        if (list == nullptr && count > 0) return cudaErrorInvalidValue;
        for (std::size_t i = 0; i < count; ++i) {
            if (list[i].location.type != cudaMemLocationTypeDevice || list[i].location.id != 0)
                return cudaErrorInvalidDevice;
            // A device always has access to its own pool.
            if (list[i].flags != cudaMemAccessFlagsProtReadWrite) return cudaErrorInvalidValue;
        }
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
    return with_pool(pool, [&] {
        if (flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
        const bool own = location->type == cudaMemLocationTypeDevice && location->id == 0;
        *flags = own ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
    return device_api([&](Connection&) {
        if (device != 0) return cudaErrorInvalidDevice;
        const GraphMemory& has = graph_memory();
        const std::uint64_t values[] = {has.used, has.used_high, has.reserved(), has.reserved_high};
        if (value == nullptr || static_cast<unsigned>(attribute) >= std::size(values)) return cudaErrorInvalidValue;
        *static_cast<std::uint64_t*>(value) = values[attribute];
        return cudaSuccess;
    });
}

// Resets a high-water mark, for which the value is 0.
cudaError_t CUDARTAPI cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
    return device_api([&](Connection&) {
        if (device != 0) return cudaErrorInvalidDevice;
        GraphMemory& has = graph_memory();
        if (value == nullptr || *static_cast<const std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
        if (attribute == cudaGraphMemAttrUsedMemHigh) return has.used_high = has.used, cudaSuccess;
        if (attribute == cudaGraphMemAttrReservedMemHigh) return has.reserved_high = has.reserved(), cudaSuccess;
        return cudaErrorInvalidValue;
    });
}

cudaError_t CUDARTAPI cudaDeviceGraphMemTrim(int device) {
    return device_api([&](Connection&) {
        if (device != 0) return cudaErrorInvalidDevice;
        graph_memory().used = pools().graphs.used;
        return cudaSuccess;
    });
}

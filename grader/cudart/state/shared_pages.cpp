#include "cudart/state/shared_pages.hpp"

#include <sys/mman.h>

#include <cstring>
#include <map>

#include "cudart/client/errors.hpp"
#include "device/address_space.hpp"

namespace warpgrade::cudart {
namespace {

constexpr std::uintptr_t page = device::address_space::page_bytes;

// Consecutive pages that were shared together, with the number of registrations of each page.
struct Run {
    std::vector<unsigned> users;
    [[nodiscard]] std::uintptr_t bytes() const { return users.size() * page; }
    [[nodiscard]] bool is_unused() const {
        for (const unsigned count : users)
            if (count != 0) return false;
        return true;
    }
};

std::map<std::uintptr_t, Run>& runs() {
    static auto& all = *new std::map<std::uintptr_t, Run>;
    return all;
}

std::map<std::uintptr_t, Run>::iterator run_of(std::uintptr_t address) {
    auto after = runs().upper_bound(address);
    if (after == runs().begin()) return runs().end();
    --after;
    return address - after->first < after->second.bytes() ? after : runs().end();
}

// The calling thread's stack cannot be moved while it is in use.
bool has_our_stack(std::uintptr_t begin, std::uintptr_t end) {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return here + page > begin && here < end + page;
}

// Replaces the pages by shared ones. Writes by other threads at the same time are lost; a real driver's migration gives
// no better guarantee for memory that is registered while it is written.
cudaError_t replace(std::uintptr_t begin, std::size_t bytes) {
    if (has_our_stack(begin, begin + bytes)) return not_supported("cudaHostRegister of memory on the stack");
    auto* target = reinterpret_cast<void*>(begin);
    if (::msync(target, bytes, MS_ASYNC) != 0) return cudaErrorInvalidValue;  // nothing is mapped there
    Connection& connection = Connection::get();
    std::vector<std::byte> results;
    device::Descriptor file;
    Writer request;
    request.put(std::uint64_t{bytes}).put(std::uint64_t{begin}).put_string("cudaHostRegister");
    const cudaError_t status = connection.call_for_file(Op::allocate_host, request, results, file);
    if (status != cudaSuccess) return status;
    void* fresh = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (fresh != MAP_FAILED) {
        std::memcpy(fresh, target, bytes);
        if (::mremap(fresh, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target) return cudaSuccess;
        ::munmap(fresh, bytes);
    }
    connection.call(Op::free_memory, Writer().put(std::uint64_t{begin}));
    return cudaErrorMemoryAllocation;
}

}  // namespace

cudaError_t share_pages(std::uintptr_t address, std::size_t bytes) {
    const std::uintptr_t begin = address / page * page, end = (address + bytes + page - 1) / page * page;
    // Existing runs keep their pages; the gaps between them become new runs.
    for (std::uintptr_t at = begin; at < end;) {
        if (const auto run = run_of(at); run != runs().end()) {
            at = run->first + run->second.bytes();
            continue;
        }
        const auto next = runs().upper_bound(at);
        const std::uintptr_t stop = next == runs().end() ? end : std::min(end, next->first);
        if (const cudaError_t status = replace(at, stop - at); status != cudaSuccess) {
            release_pages(begin, 0);  // frees the new runs
            return status;
        }
        runs()[at].users.resize((stop - at) / page);
        at = stop;
    }
    for (std::uintptr_t at = begin; at < end; at += page) {
        const auto run = run_of(at);
        ++run->second.users[(at - run->first) / page];
    }
    return cudaSuccess;
}

// The pages stay mapped with their bytes; only the device loses them.
cudaError_t release_pages(std::uintptr_t address, std::size_t bytes) {
    const std::uintptr_t begin = address / page * page;
    const std::uintptr_t end = bytes == 0 ? begin : (address + bytes + page - 1) / page * page;
    for (std::uintptr_t at = begin; at < end; at += page) {
        const auto run = run_of(at);
        if (run != runs().end()) --run->second.users[(at - run->first) / page];
    }
    cudaError_t result = cudaSuccess;
    for (auto run = runs().begin(); run != runs().end();) {
        if (!run->second.is_unused()) {
            ++run;
            continue;
        }
        const cudaError_t status = Connection::get().call(Op::free_memory, Writer().put(std::uint64_t{run->first}));
        if (status != cudaSuccess) result = status;
        run = runs().erase(run);
    }
    return result;
}

void forget_shared_pages() { runs().clear(); }

}  // namespace warpgrade::cudart

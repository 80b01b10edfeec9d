#include "vgpu/memory/host_pages.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "device/device.hpp"

namespace warpgrade::vgpu {

using device::DeviceError;
namespace error = device::error;

namespace {

// Up to this size, clearing memory that the process keeps is faster than mapping, faulting in and unmapping pages; a
// program may launch thousands of small kernels.
constexpr std::uint64_t max_heap_bytes = 1 << 20, alignment = 64;
// Most arrays are used entirely, and a page fault for each 4 KiB takes longer than clearing them. Of a larger array a
// program may use only a little.
constexpr std::uint64_t huge_page = 2 << 20, max_huge_page_bytes = 64 << 20;

[[noreturn]] void fail() {
    throw DeviceError(error::memory_allocation, "the host is out of memory for the virtual GPU");
}

std::byte* mapping(std::uint64_t bytes, int flags, int file) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (p == MAP_FAILED) fail();
    return static_cast<std::byte*>(p);
}

}  // namespace

HostPages::HostPages(std::uint64_t bytes) : bytes_(bytes), mapped_(bytes > max_heap_bytes) {
    if (bytes == 0) return;
    if (mapped_) {
        data_ = mapping(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
        if (bytes >= huge_page && bytes <= max_huge_page_bytes) madvise(data_, bytes, MADV_HUGEPAGE);
        return;
    }
    const std::uint64_t whole = (bytes + alignment - 1) / alignment * alignment;
    data_ = static_cast<std::byte*>(std::aligned_alloc(alignment, whole));
    if (!data_) fail();
    std::memset(data_, 0, whole);
}

HostPages::HostPages(std::uint64_t bytes, const device::Descriptor& file)
    : data_(mapping(bytes, MAP_SHARED, file.get())), bytes_(bytes), mapped_(true) {}

HostPages::~HostPages() { release(); }

void HostPages::release() {
    if (!data_) return;
    if (mapped_)
        munmap(data_, bytes_);
    else
        std::free(data_);
}

HostPages::HostPages(HostPages&& other) noexcept { *this = std::move(other); }

HostPages& HostPages::operator=(HostPages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
    return *this;
}

void HostPages::reset() {
    if (!data_) return;
    if (mapped_)
        madvise(data_, bytes_, MADV_DONTNEED);
    else
        std::memset(data_, 0, bytes_);
}

}  // namespace warpgrade::vgpu

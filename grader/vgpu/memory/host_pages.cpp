#include "vgpu/memory/host_pages.hpp"

#include <sys/mman.h>

#include <utility>

#include "device/device.hpp"

namespace warpgrade::vgpu {

using device::DeviceError;
namespace error = device::error;

HostPages::HostPages(std::uint64_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw DeviceError(error::memory_allocation, "the host is out of memory for the virtual GPU");
    data_ = static_cast<std::byte*>(p);
}

HostPages::HostPages(std::uint64_t bytes, const device::Descriptor& file) : bytes_(bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (p == MAP_FAILED) throw DeviceError(error::memory_allocation, "the host is out of memory for the virtual GPU");
    data_ = static_cast<std::byte*>(p);
}

HostPages::~HostPages() {
    if (data_) munmap(data_, bytes_);
}

HostPages::HostPages(HostPages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

HostPages& HostPages::operator=(HostPages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

void HostPages::reset() {
    if (data_) madvise(data_, bytes_, MADV_DONTNEED);
}

}  // namespace warpgrade::vgpu

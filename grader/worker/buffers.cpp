#include "worker/buffers.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace warpgrade::worker {
namespace {
constexpr std::byte canary{0xA5};
}

Buffer::~Buffer() {
    if (mapping_) munmap(mapping_, mapped_);
}

bool Buffer::map(std::span<const std::byte> source, int file, std::uint64_t offset, std::uint64_t& hint) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = source.size();
    if (bytes > (std::size_t{1} << 46)) return false;
    const std::size_t pages = (bytes + page - 1) / page * page, body = pages + page;  // at least one page before it
    mapped_ = guard_bytes + body + guard_bytes;
    // The guards take address space only, no memory.
    void* mapping = mmap(reinterpret_cast<void*>(hint), mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) return false;
    mapping_ = static_cast<std::byte*>(mapping);
    std::byte* const start = mapping_ + guard_bytes;
    if (mprotect(start, body, PROT_READ | PROT_WRITE) != 0) return false;
    size_ = bytes;
    data_ = start + body - bytes;
    if (bytes >= wire::mapped_bytes && (offset + bytes) % page == 0) {
        // The kernel copies those pages only that the program writes.
        const auto from = static_cast<off_t>(offset + bytes - pages);
        if (mmap(start + page, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, from) == MAP_FAILED)
            return false;
    } else if (bytes > 0) {
        std::memcpy(data_, source.data(), bytes);
    }
    std::memset(start, static_cast<int>(canary), body - bytes);
    hint += mapped_ + page;
    return true;
}

std::size_t Buffer::damage_before() const {
    for (const std::byte* at = data_ - 1; at >= mapping_ + guard_bytes; --at)
        if (*at != canary) return static_cast<std::size_t>(data_ - at);
    return 0;
}

std::optional<std::uint64_t> Buffer::distance_past_end(std::uint64_t address) const {
    const auto end = reinterpret_cast<std::uint64_t>(data_ + size_);
    if (!mapping_ || address < end || address - end >= guard_bytes) return std::nullopt;
    return address - end;
}

}  // namespace warpgrade::worker

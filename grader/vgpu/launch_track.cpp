#include <algorithm>
#include <cstring>

#include "vgpu/grid.hpp"

namespace warpgrade::vgpu {

namespace {
constexpr std::uint64_t bits = 64;
std::uint64_t* words_of(const HostPages& bitmap) { return reinterpret_cast<std::uint64_t*>(bitmap.data()); }
}  // namespace

LaunchTrack::LaunchTrack(Allocation& a, unsigned threads, bool marked, unsigned granule_shift)
    : allocation(a), shift(granule_shift) {
    const bool reads = a.touched.load() & Allocation::Tracked;
    if (marked) {
        const std::uint64_t mark_bytes = ((a.bytes >> shift) + 1) * sizeof(Mark);
        write_marks = HostPages(mark_bytes);
        if (reads) read_marks = HostPages(mark_bytes);
    }
    if (threads == 0) return;
    const std::uint64_t pages = (a.bytes + page_bytes - 1) / page_bytes;
    const std::uint64_t bitmap_bytes = pages * page_bytes / word_bytes / 8;
    for (unsigned t = 0; t < threads; ++t) written.emplace_back(bitmap_bytes);
    if (reads)
        for (unsigned t = 0; t < threads; ++t) read.emplace_back(bitmap_bytes);
    page_state = std::make_unique<std::atomic<std::uint8_t>[]>(pages);
    saved = HostPages(pages * page_bytes);
    if (a.defined) saved_definition = HostPages(pages * page_bytes / 8);
    if (a.writers) saved_writers = HostPages(pages * page_bytes / LastWriter::word_bytes * sizeof(device::WriterTag));
}

void LaunchTrack::save_pages(std::uint64_t offset, std::uint64_t bytes) {
    for (std::uint64_t page = offset / page_bytes; page <= (offset + bytes - 1) / page_bytes; ++page) {
        std::uint8_t state = page_state[page].load(std::memory_order_acquire);
        if (state == 2) continue;
        if (state == 0 && page_state[page].compare_exchange_strong(state, 1)) {
            const std::uint64_t at = page * page_bytes;
            const std::uint64_t size = std::min(page_bytes, allocation.bytes - at);
            std::memcpy(saved.data() + at, allocation.host + at, size);
            if (allocation.defined) allocation.defined->save(at, size, saved_definition.data() + at / 8);
            if (allocation.writers) allocation.writers->save(at, size, saved_writers.data() + at / 2);
            page_state[page].store(2, std::memory_order_release);
        } else {
            while (page_state[page].load(std::memory_order_acquire) != 2) {
            }
        }
    }
}

void LaunchTrack::mark(HostPages& bitmap, std::uint64_t offset, std::uint64_t bytes) {
    std::uint64_t* words = words_of(bitmap);
    const std::uint64_t first = offset / word_bytes, last = (offset + bytes - 1) / word_bytes;
    for (std::uint64_t at = first; at <= last;) {
        const std::uint64_t end = std::min(last + 1, (at / bits + 1) * bits);
        const std::uint64_t count = end - at;
        words[at / bits] |= (count == bits ? ~0ULL : (1ULL << count) - 1) << (at % bits);
        at = end;
    }
}

void LaunchTrack::restore() const {
    const std::uint64_t pages = (allocation.bytes + page_bytes - 1) / page_bytes;
    for (std::uint64_t page = 0; page < pages; ++page)
        if (page_state[page].load() == 2) {
            const std::uint64_t at = page * page_bytes;
            const std::uint64_t bytes = std::min(page_bytes, allocation.bytes - at);
            std::memcpy(allocation.host + at, saved.data() + at, bytes);
            if (allocation.defined) allocation.defined->restore(at, bytes, saved_definition.data() + at / 8);
            if (allocation.writers) allocation.writers->restore(at, bytes, saved_writers.data() + at / 2);
        }
}

bool LaunchTrack::conflicts() const {
    constexpr std::uint64_t words_a_page = page_bytes / word_bytes / bits;
    const std::uint64_t pages = (allocation.bytes + page_bytes - 1) / page_bytes;
    for (std::uint64_t page = 0; page < pages; ++page) {
        if (page_state[page].load(std::memory_order_relaxed) == 0) continue;
        for (std::uint64_t word = page * words_a_page; word < (page + 1) * words_a_page; ++word) {
            std::uint64_t anyone_wrote = 0, wrote_before = 0;
            for (std::size_t t = 0; t < written.size(); ++t) {
                const std::uint64_t mine = words_of(written[t])[word];
                if (mine & wrote_before) return true;
                wrote_before |= mine;
            }
            anyone_wrote = wrote_before;
            for (std::size_t t = 0; t < read.size(); ++t)
                if (words_of(read[t])[word] & anyone_wrote & ~words_of(written[t])[word]) return true;
        }
    }
    return false;
}

}  // namespace warpgrade::vgpu

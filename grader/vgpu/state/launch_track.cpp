#include <algorithm>
#include <cstring>

#include "vgpu/code/mask.hpp"
#include "vgpu/state/launch_track.hpp"
#include "vgpu/state/warp.hpp"

namespace warpgrade::vgpu {

namespace {
constexpr std::uint64_t bits = 64;
constexpr std::uint64_t max_mark_bytes = 1ULL << 30;  // of memory for all marks of one launch
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

void LaunchTracks::first_touch(const Executor& e, Allocation& a, bool store) {
    const std::uint8_t mine = store ? Allocation::Written : Allocation::Read;
    if (!e.optimistic) {
        // Reads are recorded from the first access on, since there is no second attempt. Heap objects may be many and
        // small and are not worth a record each; constants are never written.
        if (!a.on_heap && !a.read_only && !a.track.load()) {
            a.touched.fetch_or(Allocation::Tracked);
            track(e, a);
        }
        a.touched.fetch_or(mine);
        all_watched_ &= !a.on_heap;
        return;
    }
    if (a.on_heap) throw AttemptFailed{};
    if (store && !a.track.load(std::memory_order_acquire)) track(e, a);
    const std::uint8_t before = a.touched.fetch_or(mine);
    const std::uint8_t now = before | mine;
    constexpr std::uint8_t both = Allocation::Read | Allocation::Written;
    if ((now & both) == both && !(now & Allocation::Tracked)) throw AttemptFailed{&a};
}

LaunchTrack& LaunchTracks::track(const Executor& e, Allocation& a) {
    const std::lock_guard lock(mutex_);
    if (LaunchTrack* t = a.track.load()) return *t;
    // An allocation that is too large for marks is not checked for races.
    const std::uint64_t marks = 2 * ((a.bytes >> granule_shift_) + 1) * sizeof(Mark);
    const bool marked = marked_ && marked_bytes_ + marks <= max_mark_bytes;
    if (marked) marked_bytes_ += marks;
    all_watched_ &= marked;
    tracks_.push_back(std::make_unique<LaunchTrack>(a, e.optimistic ? threads_ : 0, marked, granule_shift_));
    a.track.store(tracks_.back().get(), std::memory_order_release);
    return *tracks_.back();
}

void LaunchTracks::note_store(const Executor& e, Allocation& a, const Access& x, unsigned bytes) {
    LaunchTrack& t = *a.track.load(std::memory_order_acquire);
    const auto note = [&](std::uint64_t address, std::uint64_t size) {
        t.save_pages(address - a.base, size);
        if (threads_ > 1) LaunchTrack::mark(t.written[e.thread], address - a.base, size);
    };
    if (x.kind == Access::Kind::Contiguous) return note(x.address[0], std::uint64_t{bytes} * warp_size);
    for_active(x.mask, [&](unsigned l) { note(x.address[l], bytes); });
}

void LaunchTracks::note_load(const Executor& e, Allocation& a, const Access& x, unsigned bytes) {
    LaunchTrack* t = a.track.load(std::memory_order_acquire);
    HostPages& bitmap = (t ? *t : track(e, a)).read[e.thread];
    if (threads_ == 1) return;
    if (x.kind == Access::Kind::Contiguous)
        return LaunchTrack::mark(bitmap, x.address[0] - a.base, std::uint64_t{bytes} * warp_size);
    for_active(x.mask, [&](unsigned l) { LaunchTrack::mark(bitmap, x.address[l] - a.base, bytes); });
}

bool LaunchTracks::conflicts() const {
    return std::ranges::any_of(tracks_, [](const auto& t) { return t->conflicts(); });
}

void LaunchTracks::undo() {
    for (const auto& t : tracks_) t->restore();
    clear();
}

void LaunchTracks::clear() {
    tracks_.clear();
    marked_bytes_ = 0;
    all_watched_ = true;
}

}  // namespace warpgrade::vgpu

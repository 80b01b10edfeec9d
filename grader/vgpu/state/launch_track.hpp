// What a launch remembers of global memory: to run its blocks in parallel without changing the result, and for
// racecheck.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "vgpu/access/access.hpp"
#include "vgpu/memory/memory.hpp"
#include "vgpu/shadow/marks.hpp"

namespace warpgrade::vgpu {

struct Executor;

// What a launch in parallel remembers of one allocation.
struct LaunchTrack {
    static constexpr std::uint64_t page_bytes = 4096, word_bytes = 4;

    // `threads`: how many host threads run blocks in parallel; 0 if the launch can never have to be undone, so that
    // nothing is recorded for it. `marked`: keep marks for racecheck, one for each 2^granule_shift bytes.
    LaunchTrack(Allocation& allocation, unsigned threads, bool marked, unsigned granule_shift);
    Allocation& allocation;
    std::vector<HostPages> written;                           // by host thread: one bit per word
    std::vector<HostPages> read;                              // the same for reads, if they are recorded
    std::unique_ptr<std::atomic<std::uint8_t>[]> page_state;  // 0 untouched, 1 being saved, 2 saved
    HostPages saved;                                          // the bytes before the launch, by page
    HostPages saved_definition;                               // the DefinedBytes bits before the launch
    HostPages saved_writers;                                  // the LastWriter words before the launch
    HostPages write_marks, read_marks;
    unsigned shift = 0;
    [[nodiscard]] MarkedMemory marks() const {
        return {reinterpret_cast<Mark*>(write_marks.data()), reinterpret_cast<Mark*>(read_marks.data())};
    }
    [[nodiscard]] bool marked() const { return write_marks.data() != nullptr; }

    void save_pages(std::uint64_t offset, std::uint64_t bytes);
    static void mark(HostPages& bitmap, std::uint64_t offset, std::uint64_t bytes);
    void restore() const;
    [[nodiscard]] bool conflicts() const;
};

// Thrown when blocks turn out to depend on each other's order: what they did in parallel is undone, and the launch
// starts again.
struct AttemptFailed {
    // Not null: this allocation is read as well as written, and its reads were not recorded. With reads recorded from
    // the start, the next attempt may succeed. Null: the blocks have to run one after the other.
    Allocation* track_reads = nullptr;
};

// The tracks of one launch.
class LaunchTracks {
  public:
    // The parameters are those of LaunchTrack.
    LaunchTracks(unsigned threads, bool marked, unsigned granule_shift)
        : threads_(threads), marked_(marked), granule_shift_(granule_shift) {}

    // For the memory handlers while tracking: an executor's first access of this kind to an allocation, and each
    // access.
    void first_touch(const Executor& executor, Allocation& allocation, bool store);
    void note_store(const Executor& executor, Allocation& allocation, const Access& access, unsigned bytes);
    void note_load(const Executor& executor, Allocation& allocation, const Access& access, unsigned bytes);

    // True if one host thread accessed bytes that another one wrote: the result depends on the order of blocks.
    [[nodiscard]] bool conflicts() const;
    // Restores memory to its state before the launch and forgets all tracks.
    void undo();
    void clear();
    // False if racecheck has not seen all memory that the launch accessed.
    [[nodiscard]] bool all_watched() const { return all_watched_; }

  private:
    LaunchTrack& track(const Executor& executor, Allocation& allocation);

    const unsigned threads_;
    const bool marked_;
    const unsigned granule_shift_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<LaunchTrack>> tracks_;
    std::uint64_t marked_bytes_ = 0;  // of memory that marks take
    bool all_watched_ = true;
};

}  // namespace warpgrade::vgpu

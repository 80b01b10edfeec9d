// One kernel launch: its blocks, run on the host's threads so that the result is always that of running them one after
// the other in the order of their index.
//
// Blocks that cannot see each other's effects run in parallel. Whether they could is not guessed: each host thread
// records what its blocks write (and, where an allocation is both read and written, what they read), every page is
// saved before its first write, and if two threads met, the pages are restored and the launch runs again serially. A
// kernel that communicates on purpose (global atomics, volatile accesses, fences) runs serially from the start, its
// resident blocks taking turns, so that grid-wide barriers and flags work.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "device/checks.hpp"
#include "device/device.hpp"
#include "vgpu/access.hpp"
#include "vgpu/device_heap.hpp"
#include "vgpu/images.hpp"
#include "vgpu/print_buffer.hpp"
#include "vgpu/timing.hpp"
#include "vgpu/warp.hpp"

namespace warpgrade::vgpu {

// What a launch in parallel remembers of one allocation.
struct LaunchTrack {
    static constexpr std::uint64_t page_bytes = 4096, word_bytes = 4;

    // `threads`: of the host, that run in parallel or may have to be undone; 0: nothing is recorded for that. `marked`:
    // with marks for racecheck, in granules of 2^shift bytes.
    LaunchTrack(Allocation& allocation, unsigned threads, bool marked, unsigned granule_shift);
    Allocation& allocation;
    std::vector<HostPages> written;                           // by host thread: one bit a word
    std::vector<HostPages> read;                              // the same, when the allocation is read as well
    std::unique_ptr<std::atomic<std::uint8_t>[]> page_state;  // 0 untouched, 1 being saved, 2 saved
    HostPages saved;                                          // the bytes before the launch, by page
    HostPages saved_definition;                               // the same of the bits of DefinedBytes
    HostPages saved_writers;                                  // and of LastWriter
    HostPages write_marks, read_marks;
    unsigned shift = 0;
    [[nodiscard]] MarkedMemory marks() const {
        return {reinterpret_cast<Mark*>(write_marks.data()), reinterpret_cast<Mark*>(read_marks.data())};
    }
    [[nodiscard]] bool marked() const { return write_marks.data() != nullptr; }
    [[nodiscard]] bool undoable() const { return !written.empty(); }

    void save_pages(std::uint64_t offset, std::uint64_t bytes);
    static void mark(HostPages& bitmap, std::uint64_t offset, std::uint64_t bytes);
    void restore() const;
    [[nodiscard]] bool conflicts() const;
};

struct LaunchLimits {
    unsigned threads = 1;
    std::uint64_t instructions = 0;     // warp instructions of one launch; 0: no limit
    std::uint32_t resident_blocks = 1;  // that take turns when blocks communicate
    std::uint32_t shared_bytes = 0;     // static and dynamic, of one block
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint32_t multiprocessors = 1;
    std::uint64_t l1_bytes = 0, l2_bytes = 0;  // a block's share of L1, and all of L2; see caches.hpp
    std::uint64_t stack_bytes = 0;             // a thread; no less than the virtual GPU's own limit
    std::uint64_t printf_bytes = 0;            // that one launch may print
    DeviceHeap* heap = nullptr;
    const ImageTable* images = nullptr;
    device::Checks checks;
    device::WriterTag writer = device::writer::nobody;  // what LastWriter calls this launch
    bool note_accesses = false;                         // byte by byte
};

// What went wrong in a launch, located.
struct LaunchFault {
    int code = 0;
    std::string message;  // complete, for the student
    device::Diagnostic diagnostic;
};

// Thrown to end the parallel attempt when blocks turn out to meet; caught by Grid::run.
struct RunSerially {};
// An allocation is written as well as read: record reads from now on, and start again.
struct TrackReads {
    Allocation* allocation;
};

struct LaunchUse;

class Grid {
  public:
    Grid(const Code& code, const ptx::Module& module, const device::LaunchConfig& config, const LaunchLimits& limits,
         std::span<const std::byte> params, GlobalMemory& memory);

    // Runs all blocks. Returns the fault if there was one; then memory holds what a serial run had written until then.
    std::optional<LaunchFault> run();

    // Filled by run().
    device::Counters counters;
    std::vector<device::LineCounters> lines;
    Traffic traffic;     // for the timing model
    PrintBuffer output;  // what device printf wrote
    std::vector<device::Diagnostic> diagnostics;
    std::vector<device::MemoryAccess> accesses;  // of whole allocations, unless they are noted byte by byte
    std::shared_ptr<const LaunchUse> use;  // for advice (advice.hpp); null if none is wanted, or the launch failed
    bool ran_parallel = false;
    std::vector<std::uint64_t> read_from, written_to;  // bases of the allocations that it has read and written

    // For the memory handlers, when tracking.
    void first_touch(const Executor& executor, Allocation& allocation, bool store);
    void note_store(Executor& executor, Allocation& allocation, const Access& access, unsigned bytes);
    void note_load(Executor& executor, Allocation& allocation, const Access& access, unsigned bytes);

    // For the scheduler: adds the executor's instructions to the launch's total; false when the limit is exceeded.
    bool charge(Executor& executor);

    // For messages: "matmul.cu:23", or the PTX line where there is no source line; "(3,0,0)".
    [[nodiscard]] std::string place(const Insn& insn) const;
    [[nodiscard]] std::string thread_name(std::uint32_t thread) const;
    // For diagnostics: the place of an instruction, and a thread by its block's index and its number there.
    [[nodiscard]] device::SourcePlace source_place(const Insn& insn) const;
    [[nodiscard]] device::ThreadPlace thread_place(std::uint64_t block, std::uint32_t thread) const;

    const Code& code;
    const ptx::Module& module;
    const device::LaunchConfig& config;
    const LaunchLimits& limits;

  private:
    void run_in_turns(Executor& executor, std::uint64_t resident);  // on this thread, `resident` blocks at a time
    bool run_parallel();                                            // false: must run serially
    void prepare(Executor& executor, unsigned thread, bool optimistic) const;
    void clear_touched();
    void roll_back();
    void collect(const std::vector<Executor>& executors);
    void collect_accesses();
    [[nodiscard]] std::shared_ptr<const LaunchUse> collect_use(const std::vector<Executor>& executors) const;
    LaunchTrack& track(const Executor& executor, Allocation& allocation);
    void begin_turn(Executor& executor, BlockState& block) const;
    void start_block(Executor& executor, BlockState& block, std::uint64_t linear) const;
    void finish_block(BlockState& block) { caches_->finish_block(block.linear, block.l1); }
    [[nodiscard]] device::Dim3 block_place(std::uint64_t block) const;
    [[nodiscard]] LaunchFault describe(const Fault& fault, const BlockState& block) const;

    std::span<const std::byte> params_;
    GlobalMemory& memory_;
    std::optional<CacheReplay> caches_;
    std::vector<Executor> executors_;
    std::atomic<std::uint64_t> instructions_{0};
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::vector<std::unique_ptr<LaunchTrack>> tracks_;
    std::vector<Allocation*> track_reads_;
    std::uint64_t marked_bytes_ = 0;  // of memory that marks take
    std::optional<LaunchFault> fault_;
    std::uint64_t workspace_ = 0;  // of a cooperative launch: what grid.sync() counts in
};

// scheduler.cpp: runs the block until every warp is done (true) or none can go on without other blocks (false).
bool run_block(Executor& executor, BlockState& block);
[[noreturn]] void raise_at(const Warp& warp, const Insn* insn, int code, const std::string& message, unsigned lane,
                           device::Diagnostic diagnostic = {});

}  // namespace warpgrade::vgpu

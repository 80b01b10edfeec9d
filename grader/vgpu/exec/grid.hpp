// Runs a launch: its blocks one after the other, in turns where they may wait for each other, or on several host
// threads where that changes nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vgpu/access/cache_replay.hpp"
#include "vgpu/model/advice.hpp"
#include "vgpu/model/timing.hpp"
#include "vgpu/state/launch.hpp"

namespace warpgrade::vgpu {

struct LaunchResult {
    std::optional<Fault> fault;  // if set, memory holds what a serial run wrote before it, unless it ran out of time
    std::uint64_t sampled_blocks = 0;  // that ran, of a grid of more; what is counted is scaled. 0: all ran
    device::Counters counters;
    std::vector<device::LineCounters> lines;
    std::optional<device::AccessTrace> trace;  // if it is wanted
    Traffic traffic;                           // for the timing model
    Spread spread;                             // the same
    std::uint64_t most_block_instructions = 0;
    device::PrintedText printed;  // what device printf wrote
    std::vector<ChildLaunch> children;
    std::vector<device::Diagnostic> diagnostics;
    std::vector<device::MemoryAccess> accesses;  // of whole allocations, unless they are noted byte by byte
    std::optional<device::AnyData> any_data;
    bool any_order = false;        // as in LaunchRecord
    std::optional<LaunchUse> use;  // for advice (advice.hpp); none if it is not wanted, or the launch failed
    std::vector<std::uint64_t> read_from, written_to;  // bases of the allocations that it has read and written
};

class Grid {
  public:
    Grid(const Code& code, const ptx::Module& module, const device::LaunchConfig& config, const LaunchLimits& limits,
         std::span<const std::byte> params, GlobalMemory& memory);

    // Runs all blocks. To be called once.
    LaunchResult run();

  private:
    void run_in_turns(Executor& executor, std::uint64_t resident);  // on this thread, `resident` blocks at a time
    bool try_parallel();                                            // false: must run serially
    bool run_parallel();                                            // one attempt; false: it must be undone
    void prepare(Executor& executor, unsigned thread, bool optimistic);
    void clear_touched();
    void roll_back();
    void collect_counters();
    void add_retries();
    void collect_memory();
    void collect_accesses();
    void collect_trace();
    [[nodiscard]] device::AnyData say_of_other_data() const;
    [[nodiscard]] bool has_any_order() const;
    void begin_turn(Executor& executor, BlockState& block) const;
    void start_block(Executor& executor, BlockState& block, std::uint64_t number) const;
    [[nodiscard]] std::uint64_t block_to_start(std::uint64_t started) const;  // the next one after so many
    void end_block(Executor& executor, BlockState& block);
    void end_run(Executor& executor);  // of the blocks that have ended on it
    void begin_progress();
    [[nodiscard]] Fault end_early() const;
    void scale_sample();
    void new_caches(unsigned threads);

    Launch launch_;
    std::span<const std::byte> params_;
    GlobalMemory& memory_;
    std::optional<CacheReplay> caches_;
    std::vector<Executor> executors_;
    std::vector<Allocation*> track_reads_;  // requested by an abandoned attempt
    std::uint64_t workspace_ = 0;           // of a cooperative launch, for the counter of grid.sync()
    LaunchResult result_;
};

// scheduler.cpp: runs the block. True if every warp is done, false if none can continue without other blocks.
bool run_block(Executor& executor, BlockState& block);

}  // namespace warpgrade::vgpu

// A launch as its executors share it: code, sizes and limits, what it has used, and the names of instructions and
// threads in messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/analysis.hpp"
#include "device/checks.hpp"
#include "device/order.hpp"
#include "device/print_buffer.hpp"
#include "device/progress.hpp"
#include "vgpu/memory/device_heap.hpp"
#include "vgpu/memory/images.hpp"
#include "vgpu/state/fault.hpp"
#include "vgpu/state/launch_track.hpp"
#include "vgpu/state/shared_layout.hpp"
#include "vgpu/state/warp.hpp"

namespace warpgrade::vgpu {

struct LaunchLimits {
    unsigned threads = 1;
    std::uint64_t instructions = 0;     // warp instructions of one launch; 0: no limit
    std::uint32_t resident_blocks = 1;  // number that take turns when blocks communicate
    std::uint32_t shared_bytes = 0;     // static and dynamic, of one block
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint32_t multiprocessors = 1;
    std::uint32_t blocks_at_once = 1;          // on one multiprocessor, of this grid
    std::uint64_t l1_bytes = 0, l2_bytes = 0;  // a block's share of L1; all of L2. See caches.hpp
    std::uint64_t stack_bytes = 0;   // per thread; called functions get at least the virtual GPU's own minimum
    std::uint64_t printf_bytes = 0;  // that one launch may print
    DeviceHeap* heap = nullptr;
    const ImageTable* images = nullptr;
    device::Checks checks;
    device::Order order = device::Order::forward;
    device::WriterTag writer = device::writer::nobody;  // this launch's tag in LastWriter
    bool note_accesses = false;                         // note accessed bytes exactly
    bool trace_accesses = false;                        // record the accesses of some warps (access_log.hpp)
    std::uint64_t sample_blocks = 0;       // run no more of the grid's blocks, and scale what is counted; 0: all
    device::Progress* progress = nullptr;  // where to tell how far the launch is

    // What the orders have in common (device/order.hpp): the last block and warp come first, and lanes run apart …
    [[nodiscard]] bool runs_backwards() const {
        return order == device::Order::reverse || order == device::Order::ahead;
    }
    // … and blocks run together, though they do not communicate.
    [[nodiscard]] bool runs_together() const {
        return order == device::Order::interleaved || order == device::Order::ahead;
    }
};

// A kernel that a kernel launches. It runs after the grid that launches it, which never waits for it.
struct ChildLaunch {
    const ptx::Function* kernel = nullptr;
    device::LaunchConfig config;
    std::vector<std::byte> params;
};

class Launch {
  public:
    Launch(const Code& its_code, const ptx::Module& its_module, const device::LaunchConfig& its_config,
           const LaunchLimits& its_limits);

    // Adds the executor's instructions to the launch's total. False if the launch must end: they are too many, or it is
    // stopped.
    bool charge(Executor& executor);
    [[nodiscard]] bool stopped() const { return progress.stop.load(std::memory_order_relaxed) != 0; }
    [[nodiscard]] std::string how_far() const;
    // The place in the grid of one of the blocks that run. If these are not all, there is one in each of `blocks` equal
    // parts of the grid; its place in there differs, so that not all are in one column.
    [[nodiscard]] std::uint64_t linear_of(std::uint64_t number) const;

    [[nodiscard]] std::uint32_t ptx_line(const Insn& insn) const;       // 0: unknown
    [[nodiscard]] std::string thread_name(std::uint32_t thread) const;  // for messages: "(3,0,0)"
    // The source place of an instruction for diagnostics. Blocks and threads are given by their linear numbers.
    [[nodiscard]] device::SourcePlace source_place(const Insn& insn) const;
    // A number for the line of the student's file that the counters of an instruction belong to; 0: unknown.
    [[nodiscard]] std::uint64_t line_key(const Insn& insn) const;
    [[nodiscard]] device::SourcePlace line_of_key(std::uint64_t key) const;
    [[nodiscard]] device::Dim3 block_place(std::uint64_t block) const;
    [[nodiscard]] device::ThreadPlace thread_place(std::uint64_t block, std::uint32_t thread) const;

    const Code& code;
    const ptx::Module& module;
    const device::LaunchConfig& config;
    const LaunchLimits& limits;
    const SharedLayout shared;
    LaunchTracks tracks;
    device::PrintBuffer output;  // what device printf wrote
    const std::uint64_t blocks;  // that run
    std::atomic<std::uint64_t> instructions{0};
    std::atomic<bool> attempt_failed{false};  // a host thread has given up the attempt to run in parallel
    device::Progress& progress;

    // By the address of the arguments: those that still get their arguments. Kernels that launch run on one host
    // thread.
    std::map<std::uint64_t, ChildLaunch> unlaunched;
    std::vector<ChildLaunch> children;
    std::uint32_t device_error = 0;  // what cudaGetLastError returns in the kernel
};

}  // namespace warpgrade::vgpu

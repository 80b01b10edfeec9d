// A launch, as all see it that take part in it: the code, sizes and limits, what it has used up, and how instructions
// and threads are called in messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "device/analysis.hpp"
#include "device/checks.hpp"
#include "vgpu/memory/device_heap.hpp"
#include "vgpu/memory/images.hpp"
#include "vgpu/state/fault.hpp"
#include "vgpu/state/launch_track.hpp"
#include "vgpu/state/print_buffer.hpp"
#include "vgpu/state/shared_layout.hpp"
#include "vgpu/state/warp.hpp"

namespace warpgrade::vgpu {

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

class Launch {
  public:
    Launch(const Code& its_code, const ptx::Module& its_module, const device::LaunchConfig& its_config,
           const LaunchLimits& its_limits);

    // Adds the executor's instructions to the launch's total; false when the limit is exceeded.
    bool charge(Executor& executor);

    [[nodiscard]] std::uint32_t ptx_line(const Insn& insn) const;       // 0: none is known
    [[nodiscard]] std::string thread_name(std::uint32_t thread) const;  // for messages: "(3,0,0)"
    // For diagnostics: the place of an instruction, and a thread by its block's index and its number there.
    [[nodiscard]] device::SourcePlace source_place(const Insn& insn) const;
    [[nodiscard]] device::Dim3 block_place(std::uint64_t block) const;
    [[nodiscard]] device::ThreadPlace thread_place(std::uint64_t block, std::uint32_t thread) const;

    const Code& code;
    const ptx::Module& module;
    const device::LaunchConfig& config;
    const LaunchLimits& limits;
    const SharedLayout shared;
    LaunchTracks tracks;
    PrintBuffer output;  // what device printf wrote
    std::atomic<std::uint64_t> instructions{0};
    std::atomic<bool> given_up{false};  // the attempt to run in parallel
};

}  // namespace warpgrade::vgpu

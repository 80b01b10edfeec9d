// The state of a starting block: registers, special registers, shared and local memory.
#include <algorithm>
#include <cstring>

#include "device/fresh_memory.hpp"
#include "vgpu/checks/local_values.hpp"
#include "vgpu/exec/grid.hpp"

namespace warpgrade::vgpu {

namespace {

constexpr std::uint32_t special_bytes = static_cast<std::uint32_t>(Special::Count) * warp_size * 4;
// The lanes whose numbers have an odd count of ones: lanes whose numbers differ in one bit run apart.
constexpr std::uint32_t lanes_run_first = 0x96696996;
constexpr std::uint32_t call_stack_bytes = 16384;  // per thread, in addition to the kernel's own local memory

std::uint32_t threads_of(const device::Dim3& d) { return static_cast<std::uint32_t>(d.count()); }

void fill_specials(const Launch& launch, const BlockState& block, std::uint64_t workspace, Warp& w) {
    const Code& code = launch.code;
    const device::LaunchConfig& config = launch.config;
    const LaunchLimits& limits = launch.limits;
    const auto fill = [&](Special s, auto&& value) {
        if (!(code.used_specials >> static_cast<unsigned>(s) & 1)) return;
        auto* lanes = reinterpret_cast<std::uint32_t*>(w.base[2] + static_cast<unsigned>(s) * warp_size * 4);
        for (unsigned l = 0; l < warp_size; ++l) lanes[l] = value(l);
    };
    const auto same = [&](Special s, std::uint32_t v) { fill(s, [v](unsigned) { return v; }); };
    const auto& b = config.block;
    // By counting: a division for each lane takes longer than many an instruction of the kernel.
    const auto fill_coordinate = [&](Special s, std::uint32_t device::Dim3::*coordinate) {
        const std::uint32_t first = w.index * warp_size;
        device::Dim3 next{first % b.x, first / b.x % b.y, first / b.x / b.y};
        fill(s, [&](unsigned) {
            const std::uint32_t value = next.*coordinate;
            if (++next.x == b.x) next.x = 0, ++next.y;
            if (next.y == b.y) next.y = 0, ++next.z;
            return value;
        });
    };
    fill_coordinate(Special::TidX, &device::Dim3::x);
    fill_coordinate(Special::TidY, &device::Dim3::y);
    fill_coordinate(Special::TidZ, &device::Dim3::z);
    same(Special::NtidX, b.x);
    same(Special::NtidY, b.y);
    same(Special::NtidZ, b.z);
    same(Special::CtaidX, block.x);
    same(Special::CtaidY, block.y);
    same(Special::CtaidZ, block.z);
    same(Special::NctaidX, config.grid.x);
    same(Special::NctaidY, config.grid.y);
    same(Special::NctaidZ, config.grid.z);
    fill(Special::LaneId, [](unsigned l) { return l; });
    same(Special::WarpId, w.index);
    same(Special::NwarpId, static_cast<std::uint32_t>(block.warps.size()));
    same(Special::SmId, static_cast<std::uint32_t>(block.linear % limits.multiprocessors));
    same(Special::NsmId, limits.multiprocessors);
    fill(Special::LanemaskEq, [](unsigned l) { return 1u << l; });
    fill(Special::LanemaskLe, [](unsigned l) { return (2u << l) - 1; });
    fill(Special::LanemaskLt, [](unsigned l) { return (1u << l) - 1; });
    fill(Special::LanemaskGe, [](unsigned l) { return ~((1u << l) - 1); });
    fill(Special::LanemaskGt, [](unsigned l) { return ~((2u << l) - 1); });
    same(Special::DynamicSmemSize, limits.dynamic_shared_bytes);
    same(Special::TotalSmemSize, limits.shared_bytes);
    same(Special::ReservedSharedOffset, launch.shared.system() ? launch.shared.system()->begin : 0);
    same(Special::EnvReg1, static_cast<std::uint32_t>(workspace >> 32));
    same(Special::EnvReg2, static_cast<std::uint32_t>(workspace));
}

}  // namespace

void Grid::start_block(Executor& e, BlockState& block, std::uint64_t number) const {
    const std::uint64_t linear = launch_.linear_of(number);
    const Code& code = launch_.code;
    const device::LaunchConfig& config = launch_.config;
    const LaunchLimits& limits = launch_.limits;
    const std::uint32_t threads = threads_of(config.block), warps = (threads + warp_size - 1) / warp_size;
    const std::uint32_t frame = code.functions[0].frame_bytes;
    const std::size_t warp_bytes = std::size_t{frame} + special_bytes;
    const std::uint32_t stack =
        code.has_calls ? std::max(call_stack_bytes, static_cast<std::uint32_t>(limits.stack_bytes)) : 0;
    const std::uint32_t local_stride = code.functions[0].local_bytes + stack;
    const std::uint64_t available = launch_.shared.span();
    const std::uint64_t shared = available + sector_bytes;  // load_words may read the rest of a window past the end
    if (!block.storage) {
        block.storage = aligned_bytes(warps * warp_bytes + shared);
        if (local_stride) block.local = HostPages(std::uint64_t{warps} * warp_size * local_stride);
        block.warps.resize(warps);
    }
    block.linear = linear;
    block.number = number;
    const device::Dim3 place = launch_.block_place(linear);
    block.x = place.x;
    block.y = place.y;
    block.z = place.z;
    block.shared = block.storage.get() + warps * warp_bytes;
    for (const SharedRange& range : launch_.shared.ranges())
        std::memset(block.shared + range.begin, device::fresh_byte, range.bytes);
    if (const std::uint32_t own = code.functions[0].local_bytes)  // that of a called function is filled at the call
        for (std::size_t lane = 0; lane < std::size_t{warps} * warp_size; ++lane)
            std::memset(block.local.data() + lane * local_stride, device::fresh_byte, own);
    block.watch.start = block.watch.turn = mark::at_time(++e.watch.now);
    block.watch.settled = block.watch.settled_reads = mark::at_time(1);
    block.watch.resumed = false;
    e.watch.turns.begin(e.watch.now, linear);
    const bool has_marks = e.watch.values && available != 0;
    const std::uint64_t blocks = config.grid.count();
    block.watch.shared = has_marks ? BlockWatch::Marks : BlockWatch::Nobody;
    if (limits.trace_accesses && is_traced(linear, blocks, 0)) block.watch.shared |= BlockWatch::Trace;
    block.watch.came_from.clear();
    if (has_marks) {
        block.watch.marks.shift = code.granule_shift;
        block.watch.marks.writes.resize((available >> code.granule_shift) + 1);
        block.watch.marks.reads.resize(block.watch.marks.writes.size());
    }
    if (const SharedRange* system = launch_.shared.system(); system && has_marks) {  // is initialized
        auto& written = block.watch.marks.writes;
        std::fill(written.begin() + (system->begin >> code.granule_shift), written.end(), block.watch.start);
        ++e.watch.now;
    }
    block.l1.begin_block(limits.l1_bytes, warps, e.memory, e.l1_misses);
    const std::uint64_t local_granules = (local_stride >> code.local_granule_shift) + 1;  // the last one may be partial
    const bool watches_local = limits.checks.init && local_stride;
    if (watches_local && !block.watch.local_written.data())
        block.watch.local_written = HostPages(warps * local_granules * sizeof(std::uint32_t));
    block.live_threads = threads;
    block.barriers.fill(Barrier{});
    block.warps_done = 0;
    block.watch.divergence_reported = false;
    const bool lanes_apart = limits.runs_backwards() && !code.needs_whole_warps;
    for (std::uint32_t i = 0; i < warps; ++i) {
        Warp& w = block.warps[i];
        std::byte* registers = block.storage.get() + i * warp_bytes;
        std::memset(registers, device::fresh_register_byte, frame);
        w.base[0] = registers;
        w.base[1] = const_cast<std::byte*>(code.constants.data());
        w.base[2] = registers + frame;
        w.base[3] = registers;
        w.executor = &e;
        w.block = &block;
        w.index = i;
        w.local = local_stride ? block.local.data() + std::size_t{i} * warp_size * local_stride : nullptr;
        w.local_stride = local_stride;
        const std::uint32_t lanes = std::min(threads - i * warp_size, warp_size);
        w.live = lanes == warp_size ? full_mask : (1u << lanes) - 1;
        w.clock = w.slept = 0;
        w.work = {};
        w.watch.fenced = false;
        w.watch.traced = limits.trace_accesses && is_traced(linear, blocks, i);
        if (e.watch.values) w.watch.begin(mark::at_time(e.watch.now));
        if (watches_local) {
            w.watch.local_written =
                reinterpret_cast<std::uint32_t*>(block.watch.local_written.data()) + i * local_granules;
            forget_local(w, 0, code.functions[0].local_bytes, full_mask);
        }
        w.frames.resize(1);
        w.frame_storage.clear();
        w.frame_storage_bytes = 0;
        w.free_frames.clear();
        w.watch.exited_lanes.clear();
        w.frames[0] = Frame{};
        w.frames[0].registers = registers;
        w.frames[0].local_end = code.functions[0].local_end;
        w.frames[0].users = lanes;
        w.splits.assign(1, Split{});
        w.splits[0].pc = code.functions[0].entry_block;
        w.splits[0].mask = w.live;
        w.first_lanes = lanes_apart ? lanes_run_first : 0;
        if (const std::uint32_t first = w.live & w.first_lanes) {
            w.splits.push_back(w.splits[0]);
            w.splits[0].mask = first;
            w.splits[1].mask = w.live & ~first;
        }
        fill_specials(launch_, block, workspace_, w);
    }
}

void Grid::begin_turn(Executor& e, BlockState& block) const {
    if (!e.watch.values || e.watch.turns.last() == block.linear) return;
    e.watch.turns.begin(++e.watch.now, block.linear);
    block.watch.turn = mark::at_time(e.watch.now);
    block.watch.resumed = true;
}

}  // namespace warpgrade::vgpu

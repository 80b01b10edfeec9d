#include "vgpu/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <thread>

namespace warpgrade::vgpu {

namespace {

constexpr std::uint64_t smallest_parallel_grid = 2048;  // threads; below, starting host threads costs more
constexpr std::uint32_t workspace_bytes = 8;
constexpr std::uint64_t patience = 4096;  // turns of a block that spins, until other blocks start beside it
constexpr std::uint64_t most_marked_bytes = 1ULL << 30;  // of memory for marks, in one launch

}  // namespace

Grid::Grid(const Code& c, const ptx::Module& m, const device::LaunchConfig& launch, const LaunchLimits& l,
           std::span<const std::byte> params, GlobalMemory& memory)
    : output(l.printf_bytes), code(c), module(m), config(launch), limits(l), params_(params), memory_(memory) {}

void Grid::prepare(Executor& e, unsigned thread, bool optimistic) const {
    e = Executor{};
    e.grid = const_cast<Grid*>(this);
    e.code = &code;
    e.thread = thread;
    e.optimistic = optimistic;
    e.tracking = optimistic || limits.checks.race;
    e.watching = limits.checks.race || limits.checks.init;
    e.noting = limits.note_accesses;
    e.observed = e.tracking || e.watching || e.noting || limits.writer != device::writer::nobody;
    e.checking = e.watching || limits.checks.sync;
    e.memory.resize(code.stat_kinds.size());
    e.block_warps.resize(code.blocks.size());
    e.block_threads.resize(code.blocks.size());
    e.block_divergent.resize(code.blocks.size());
    e.params = params_.data();
    e.param_bytes = params_.size();
    e.global = &memory_;
}

void Grid::first_touch(const Executor& e, Allocation& a, bool store) {
    const std::uint8_t mine = store ? Allocation::Written : Allocation::Read;
    if (!e.optimistic) {
        // From the first access on, since there is no second try. Objects of the heap may be many and small: not worth
        // a record of each. Constants are never written.
        if (!a.on_heap && !a.read_only && !a.track.load()) {
            a.touched.fetch_or(Allocation::Tracked);
            track(e, a);
        }
        a.touched.fetch_or(mine);
        return;
    }
    if (a.on_heap) throw RunSerially{};
    if (store && !a.track.load(std::memory_order_acquire)) track(e, a);
    const std::uint8_t before = a.touched.fetch_or(mine);
    const std::uint8_t now = before | mine;
    constexpr std::uint8_t both = Allocation::Read | Allocation::Written;
    if ((now & both) == both && !(now & Allocation::Tracked)) throw TrackReads{&a};
}

LaunchTrack& Grid::track(const Executor& e, Allocation& a) {
    const std::lock_guard lock(mutex_);
    if (LaunchTrack* t = a.track.load()) return *t;
    // Of an allocation that is too large for marks, races are not found.
    const std::uint64_t marks = 2 * ((a.bytes >> code.granule_shift) + 1) * sizeof(Mark);
    const bool marked = limits.checks.race && marked_bytes_ + marks <= most_marked_bytes;
    if (marked) marked_bytes_ += marks;
    tracks_.push_back(std::make_unique<LaunchTrack>(a, e.optimistic ? limits.threads : 0, marked, code.granule_shift));
    a.track.store(tracks_.back().get(), std::memory_order_release);
    return *tracks_.back();
}

void Grid::note_store(Executor& e, Allocation& a, const Access& x, unsigned bytes) {
    LaunchTrack& t = *a.track.load(std::memory_order_acquire);
    const auto note = [&](std::uint64_t address, std::uint64_t size) {
        t.save_pages(address - a.base, size);
        if (limits.threads > 1) LaunchTrack::mark(t.written[e.thread], address - a.base, size);
    };
    if (x.kind == Access::Kind::Contiguous) return note(x.address[0], std::uint64_t{bytes} * warp_size);
    for_active(x.mask, [&](unsigned l) { note(x.address[l], bytes); });
}

void Grid::note_load(Executor& e, Allocation& a, const Access& x, unsigned bytes) {
    LaunchTrack* t = a.track.load(std::memory_order_acquire);
    HostPages& bitmap = (t ? *t : track(e, a)).read[e.thread];
    if (limits.threads == 1) return;
    if (x.kind == Access::Kind::Contiguous)
        return LaunchTrack::mark(bitmap, x.address[0] - a.base, std::uint64_t{bytes} * warp_size);
    for_active(x.mask, [&](unsigned l) { LaunchTrack::mark(bitmap, x.address[l] - a.base, bytes); });
}

bool Grid::charge(Executor& e) {
    const std::uint64_t total = instructions_.fetch_add(e.instructions, std::memory_order_relaxed) + e.instructions;
    e.instructions = 0;
    if (e.optimistic && stop_.load(std::memory_order_relaxed)) throw RunSerially{};
    return limits.instructions == 0 || total <= limits.instructions;
}

std::string Grid::place(const Insn& insn) const {
    if (const auto at = source_place(insn); at.line) return fmt::format("{}:{}", at.file, at.line);
    const auto index = static_cast<std::size_t>(&insn - code.insns.data());
    return index < code.ptx_lines.size() ? fmt::format("PTX line {}", code.ptx_lines[index]) : "an unknown place";
}

std::string Grid::thread_name(std::uint32_t thread) const {
    const auto& b = config.block;
    return fmt::format("({},{},{})", thread % b.x, thread / b.x % b.y, thread / b.x / b.y);
}

device::SourcePlace Grid::source_place(const Insn& insn) const {
    const auto index = static_cast<std::size_t>(&insn - code.insns.data());
    if (index >= code.locations.size()) return {};
    if (const auto at = module.innermost_own(code.locations[index]); at.line)
        if (const std::string* file = module.file_name(at.file)) return {*file, at.line, 0};
    return {};
}

device::Dim3 Grid::block_place(std::uint64_t block) const {
    const auto& g = config.grid;
    return {static_cast<std::uint32_t>(block % g.x), static_cast<std::uint32_t>(block / g.x % g.y),
            static_cast<std::uint32_t>(block / g.x / g.y)};
}

device::ThreadPlace Grid::thread_place(std::uint64_t block, std::uint32_t thread) const {
    const auto& b = config.block;
    const device::Dim3 at = block_place(block);
    return {{thread % b.x, thread / b.x % b.y, thread / b.x / b.y}, {at.x, at.y, at.z}};
}

LaunchFault Grid::describe(const Fault& fault, const BlockState& block) const {
    const std::uint32_t thread = fault.warp * warp_size + fault.lane;
    device::Diagnostic found = fault.diagnostic;
    if (!found.rule) found.rule = &device::rules::kernel_failed;
    if (found.message.empty()) found.message = fault.what();
    if (fault.insn && found.place == device::SourcePlace{}) found.place = source_place(*fault.insn);
    found.thread = thread_place(block.linear, thread);
    return {fault.code,
            fmt::format("{}{} [thread {} of block ({},{},{})]", fault.insn ? place(*fault.insn) + ": " : "",
                        fault.what(), thread_name(thread), block.x, block.y, block.z),
            std::move(found)};
}

void Grid::run_in_turns(Executor& e, std::uint64_t resident) {
    const std::uint64_t blocks = config.grid.count();
    resident = std::clamp<std::uint64_t>(resident, 1, blocks);
    std::vector<std::unique_ptr<BlockState>> slots;
    std::vector<std::unique_ptr<BlockState>> spare;
    std::uint64_t next = 0;
    std::uint64_t turns_of_spinning = 0;
    const auto step = [&](BlockState& block) {
        begin_turn(e, block);
        try {
            if (!run_block(e, block)) {
                // A block that waits for another, though nothing in the code says that blocks communicate.
                if (++turns_of_spinning > patience)
                    resident = std::clamp<std::uint64_t>(limits.resident_blocks, 1, blocks);
                return false;
            }
        } catch (const Fault& fault) {
            fault_ = describe(fault, block);
            if (fault.out_of_budget && next < blocks) {
                const std::string waiting = fmt::format(
                    "; {} of {} blocks had not started, because no more than {} fit the device at once: does a block "
                    "wait for one of them?",
                    blocks - next, blocks, resident);
                fault_->message += waiting;
                fault_->diagnostic.message += waiting;
            }
            return true;
        }
        finish_block(block);
        if (!charge(e)) {
            fault_ = LaunchFault{
                device::error::launch_timeout,
                fmt::format("the kernel executed more than {} warp instructions and was stopped", limits.instructions),
                {}};
            fault_->diagnostic.rule = &device::rules::runaway;
            fault_->diagnostic.message = fault_->message;
        }
        return true;
    };
    while (next < blocks || !slots.empty()) {
        // Everyone resident has a turn; a further block starts only when there is room.
        for (std::size_t i = 0; i < slots.size();) {
            const bool done = step(*slots[i]);
            if (fault_) return;
            if (done) {
                spare.push_back(std::move(slots[i]));
                slots.erase(slots.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                ++i;
            }
        }
        while (next < blocks && slots.size() < resident) {
            if (spare.empty()) spare.push_back(std::make_unique<BlockState>());
            auto block = std::move(spare.back());
            spare.pop_back();
            start_block(e, *block, next++);
            const bool done = step(*block);
            if (fault_) return;
            (done ? spare : slots).push_back(std::move(block));
        }
    }
}

bool Grid::run_parallel() {
    const std::uint64_t blocks = config.grid.count();
    const auto threads = static_cast<unsigned>(std::min<std::uint64_t>(limits.threads, blocks));
    executors_.resize(threads);
    for (unsigned t = 0; t < threads; ++t) prepare(executors_[t], t, true);
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> serially{false};
    const auto work = [&](Executor& e) {
        try {
            BlockState block;
            for (std::uint64_t linear;
                 !stop_.load(std::memory_order_relaxed) && (linear = next.fetch_add(1)) < blocks;) {
                start_block(e, block, linear);
                for (std::uint64_t turns = 0; !run_block(e, block);)
                    if (++turns > patience) throw RunSerially{};  // it may wait for a block that cannot start here
                if (!charge(e)) throw RunSerially{};
                finish_block(block);
            }
        } catch (const TrackReads& request) {
            const std::lock_guard lock(mutex_);
            track_reads_.push_back(request.allocation);
            stop_ = true;
        } catch (...) {  // a fault (the serial run finds out which comes first), or blocks that met
            serially = true;
            stop_ = true;
        }
    };
    std::vector<std::thread> helpers;
    try {
        for (unsigned t = 1; t < threads; ++t) helpers.emplace_back(work, std::ref(executors_[t]));
    } catch (const std::system_error&) {  // no room for one more: those that there are do it
    }
    work(executors_[0]);
    for (std::thread& h : helpers) h.join();
    if (serially || stop_) return false;
    return std::none_of(tracks_.begin(), tracks_.end(), [](const auto& t) { return t->conflicts(); });
}

void Grid::clear_touched() {
    memory_.for_each([](Allocation& a) {
        a.touched = 0;
        a.track = nullptr;
    });
}

void Grid::roll_back() {
    for (const auto& t : tracks_) t->restore();
    tracks_.clear();
    marked_bytes_ = 0;
    clear_touched();
    caches_.emplace(limits.l2_bytes, code.stat_kinds.size());
    instructions_ = 0;
    stop_ = false;
}

void Grid::collect_accesses() {
    if (limits.note_accesses) {
        std::vector<const AccessNotes*> parts;
        for (const Executor& e : executors_) parts.push_back(&e.accesses);
        accesses = AccessNotes::merge(parts);
    } else {
        memory_.for_each([&](const Allocation& a) {
            if (a.on_heap) return;
            if (a.touched & Allocation::Read) accesses.push_back({a.base, a.bytes, device::MemoryUse::read});
            if (a.touched & Allocation::Written) accesses.push_back({a.base, a.bytes, device::MemoryUse::write});
        });
    }
    if (workspace_ == 0) return;
    std::erase_if(accesses,
                  [&](const device::MemoryAccess& access) { return access.address - workspace_ < workspace_bytes; });
}

std::optional<LaunchFault> Grid::run() {
    // The driver gives each cooperative launch a workspace: its size, and the counter of grid.sync().
    const bool needs_workspace =
        config.cooperative && code.used_specials >> static_cast<unsigned>(Special::EnvReg2) & 1;
    const auto release = [this](Allocation* a) { memory_.release(*a); };
    const std::unique_ptr<Allocation, decltype(release)> workspace(
        needs_workspace ? &memory_.allocate(workspace_bytes, "workspace of a cooperative launch") : nullptr, release);
    if (workspace) {
        workspace_ = workspace->base;
        workspace->defined.reset();
        const std::uint32_t contents[] = {workspace_bytes, 0};
        std::memcpy(workspace->host, contents, sizeof contents);
    }
    clear_touched();
    caches_.emplace(limits.l2_bytes, code.stat_kinds.size());
    // With racecheck on one thread as well: most kernels only read most of what they read, and need no marks for it.
    const bool may_run_parallel = (limits.threads > 1 || limits.checks.race) && !code.synchronises_globally &&
                                  config.grid.count() > 1 &&
                                  config.grid.count() * config.block.count() >= smallest_parallel_grid;
    while (may_run_parallel && !ran_parallel) {
        const std::size_t tracked = track_reads_.size();
        for (Allocation* a : track_reads_) a->touched = Allocation::Tracked;
        if (run_parallel()) {
            ran_parallel = true;
        } else {
            roll_back();
            if (track_reads_.size() == tracked) break;  // not for want of tracking: serially, then
        }
    }
    if (!ran_parallel) {
        executors_.resize(1);
        prepare(executors_[0], 0, false);
        // Blocks that do not look at each other run one after the other.
        run_in_turns(executors_[0], code.synchronises_globally ? limits.resident_blocks : 1);
    }
    collect_accesses();
    memory_.for_each([&](Allocation& a) {
        if (a.touched & (Allocation::Read | Allocation::Updated)) read_from.push_back(a.base);
        if (a.touched & Allocation::Written) written_to.push_back(a.base);
        if (!(a.touched & (Allocation::Read | Allocation::Written)) || a.home == Allocation::Home::Mapped) return;
        traffic.footprint_bytes += a.bytes;
        if (a.home == Allocation::Home::Managed) traffic.migrated_bytes += a.bytes;
        a.home = Allocation::Home::Device;
    });
    for (const Executor& e : executors_) {
        traffic.mapped_read_sectors += e.mapped_read_sectors;
        traffic.mapped_write_sectors += e.mapped_write_sectors;
    }
    clear_touched();
    tracks_.clear();
    collect(executors_);
    if (limits.checks.advice && !fault_) use = collect_use(executors_);
    std::vector<Findings*> found;
    for (Executor& e : executors_) found.push_back(&e.findings);
    diagnostics = Findings::merge(found);
    tidy(diagnostics);
    if (fault_) diagnostics.insert(diagnostics.begin(), fault_->diagnostic);
    return fault_;
}

}  // namespace warpgrade::vgpu

#include "vgpu/exec/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include "vgpu/checks/constants.hpp"
#include "vgpu/checks/launch_use.hpp"
#include "vgpu/checks/watch.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

namespace {

constexpr std::uint64_t min_parallel_threads = 2048;  // for smaller grids, starting host threads costs more
constexpr std::uint32_t workspace_bytes = 8;
constexpr unsigned min_runs = 32;          // of blocks that a host thread takes, so that all end at about the same time
constexpr std::uint64_t max_run = 16;      // blocks
constexpr std::size_t full_run = 1 << 14;  // misses: they are handed over before the run ends, since they take memory
constexpr std::uint64_t patience = 4096;   // turns of a spinning block until other blocks start beside it

}  // namespace

Grid::Grid(const Code& c, const ptx::Module& m, const device::LaunchConfig& launch, const LaunchLimits& l,
           std::span<const std::byte> params, GlobalMemory& memory)
    : launch_(c, m, launch, l), params_(params), memory_(memory) {}

void Grid::prepare(Executor& e, unsigned thread, bool optimistic) {
    const Code& code = launch_.code;
    const LaunchLimits& limits = launch_.limits;
    e = Executor{};
    e.launch = &launch_;
    e.code = &code;
    e.thread = thread;
    e.optimistic = optimistic;
    e.tracking = optimistic || limits.checks.race;
    e.watch.values = limits.checks.race || limits.checks.init;
    e.watch.accesses = limits.note_accesses || limits.trace_accesses;
    e.watch.any = e.watch.values || limits.checks.sync;
    e.observed = e.tracking || e.watch.values || e.watch.accesses || limits.writer != device::writer::nobody;
    e.memory.resize(code.stat_kinds.size());
    e.l1_misses.resize(code.stat_kinds.size());
    e.block_warps.resize(code.blocks.size());
    e.block_threads.resize(code.blocks.size());
    e.block_divergent.resize(code.blocks.size());
    e.params = params_.data();
    e.param_bytes = params_.size();
    e.global = &memory_;
}

void Grid::run_in_turns(Executor& e, std::uint64_t resident) {
    const std::uint64_t blocks = launch_.blocks;
    resident = std::min(resident, blocks);
    std::vector<std::unique_ptr<BlockState>> slots;
    std::vector<std::unique_ptr<BlockState>> spare;
    std::uint64_t next = 0;
    std::uint64_t turns_of_spinning = 0;
    const auto step = [&](BlockState& block) {
        begin_turn(e, block);
        try {
            if (!run_block(e, block)) {
                // A block waits for another one, although nothing in the code shows that blocks communicate.
                if (++turns_of_spinning > patience)
                    resident = std::min<std::uint64_t>(launch_.limits.resident_blocks, blocks);
                return false;
            }
        } catch (Fault& fault) {
            if (fault.diagnostic.rule == &device::rules::runaway && next < blocks)
                fault.diagnostic.message += fmt::format(
                    "; {} of {} blocks had not started, because no more than {} fit on the device at once: does a "
                    "block "
                    "wait for one of them?",
                    grouped(blocks - next), grouped(blocks), grouped(resident));
            result_.fault = std::move(fault);
            return true;
        }
        end_block(e, block);
        end_run(e);
        if (!launch_.charge(e)) result_.fault = end_early();
        return true;
    };
    while (next < blocks || !slots.empty()) {
        // Every resident block gets a turn; another block starts only when there is room.
        for (std::size_t i = 0; i < slots.size();) {
            const bool done = step(*slots[i]);
            if (result_.fault) return;
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
            start_block(e, *block, block_to_start(next++));
            const bool done = step(*block);
            if (result_.fault) return;
            (done ? spare : slots).push_back(std::move(block));
        }
    }
}

// Devices start blocks in the order of their numbers, as many as fit. Code may rely on that when a block waits for an
// earlier one, so that another order concerns only blocks that are on the device together.
std::uint64_t Grid::block_to_start(std::uint64_t started) const {
    if (!launch_.limits.runs_backwards()) return started;
    const std::uint64_t resident = launch_.limits.resident_blocks;
    const std::uint64_t first = started / resident * resident;
    const std::uint64_t end = std::min<std::uint64_t>(first + resident, launch_.blocks);
    return end - 1 - (started - first);
}

// Distributes blocks over host threads although each block might see what others do. If one did, or if one fails (a
// serial run finds out which fault comes first), the attempt is abandoned.
bool Grid::run_parallel() {
    const std::uint64_t blocks = launch_.blocks;
    const auto threads = static_cast<unsigned>(std::min<std::uint64_t>(launch_.limits.threads, blocks));
    new_caches(threads);
    executors_.resize(threads);
    for (unsigned t = 0; t < threads; ++t) prepare(executors_[t], t, true);
    // Each takes a few blocks at a time, since they meet where they take them and where they hand over what these did.
    const std::uint64_t run = std::clamp<std::uint64_t>(blocks / (std::uint64_t{min_runs} * threads), 1, max_run);
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool>& attempt_failed = launch_.attempt_failed;
    std::mutex mutex;
    const auto work = [&](Executor& e) {
        try {
            BlockState block;
            for (std::uint64_t number;
                 !attempt_failed.load(std::memory_order_relaxed) && (number = next.fetch_add(run)) < blocks;) {
                for (const std::uint64_t end = std::min(number + run, blocks); number < end; ++number) {
                    start_block(e, block, number);
                    for (std::uint64_t turns = 0; !run_block(e, block);)
                        if (++turns > patience) throw AttemptFailed{};  // may wait for a block that cannot start here
                    end_block(e, block);
                    if (e.ended.misses() >= full_run) end_run(e);
                }
                if (!launch_.charge(e)) {
                    if (launch_.stopped()) throw end_early();
                    throw AttemptFailed{};
                }
                end_run(e);
            }
            caches_->finish_all();
        } catch (const AttemptFailed& why) {
            attempt_failed = true;
            const std::lock_guard lock(mutex);
            if (why.track_reads) track_reads_.push_back(why.track_reads);
        } catch (Fault& fault) {
            attempt_failed = true;
            const std::lock_guard lock(mutex);
            if (launch_.stopped() && !result_.fault) result_.fault = std::move(fault);
        } catch (...) {  // a serial run meets it again, or needs less memory
            attempt_failed = true;
        }
    };
    std::vector<std::thread> helpers;
    try {
        for (unsigned t = 1; t < threads; ++t) helpers.emplace_back(work, std::ref(executors_[t]));
    } catch (const std::system_error&) {  // if no more threads can start, the existing ones do the work
    }
    work(executors_[0]);
    for (std::thread& h : helpers) h.join();
    return !attempt_failed && !launch_.tracks.conflicts();
}

bool Grid::try_parallel() {
    const LaunchLimits& limits = launch_.limits;
    const device::LaunchConfig& config = launch_.config;
    if (limits.order != device::Order::forward) return false;
    // With racecheck, one thread tries too: most memory that kernels read is never written and needs no marks of reads.
    if (limits.threads == 1 && !limits.checks.race) return false;
    if (launch_.code.synchronises_globally || launch_.blocks == 1 ||
        launch_.blocks * config.block.count() < min_parallel_threads)
        return false;
    for (;;) {
        const std::size_t tracked = track_reads_.size();
        for (Allocation* a : track_reads_) a->touched = Allocation::Tracked;
        if (run_parallel() || result_.fault) return true;  // out of time: a serial run has none either
        roll_back();
        if (track_reads_.size() == tracked) return false;  // the failure had another reason than untracked reads
    }
}

void Grid::clear_touched() {
    memory_.for_each([](Allocation& a) {
        a.touched = 0;
        a.track = nullptr;
    });
}

void Grid::roll_back() {
    launch_.tracks.undo();
    clear_touched();
    launch_.instructions = 0;
    launch_.attempt_failed = false;
    launch_.progress.blocks_done = 0;
}

void Grid::new_caches(unsigned threads) {
    const LaunchLimits& limits = launch_.limits;
    caches_.emplace(limits.l2_bytes, launch_.code.stat_kinds.size(),
                    Multiprocessors{limits.multiprocessors, limits.blocks_at_once,
                                    limits.l1_bytes * limits.blocks_at_once, launch_.blocks},
                    threads);
}

void Grid::end_block(Executor& e, BlockState& block) {
    BlockWork work;
    for (Warp& w : block.warps) {
        work.instructions += w.clock - w.slept;
        work.add(w.work);
    }
    const SwapContention::Turns turns = block.swaps.finish_block();
    e.swap_turns.here += turns.here, e.swap_turns.further += turns.further;
    e.ended.add(block.number, block.l1, work, caches_->sets(), caches_->shared_l1().samples(block.number));
}

void Grid::end_run(Executor& e) {
    if (e.ended.blocks.empty()) return;
    launch_.progress.blocks_done.fetch_add(e.ended.blocks.size(), std::memory_order_relaxed);
    caches_->finish(e.ended, e.thread);
}

void Grid::begin_progress() {
    device::Progress& progress = launch_.progress;
    progress.blocks = launch_.blocks;
    progress.blocks_done = progress.instructions = 0;
    progress.began_ns = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    ++progress.launches;
    progress.running = 1;
}

Fault Grid::end_early() const {
    Fault fault{device::error::launch_timeout, {}};
    if (launch_.stopped()) {
        fault.diagnostic.rule = &device::rules::kernel_failed;
        fault.diagnostic.message =
            fmt::format("was stopped because the program's time was over; {} are done", launch_.how_far());
    } else {
        fault.diagnostic.rule = &device::rules::runaway;
        fault.diagnostic.message = fmt::format("the kernel executed more than {} and was stopped",
                                               counted(launch_.limits.instructions, "warp instruction"));
    }
    return fault;
}

void Grid::collect_accesses() {
    if (launch_.limits.note_accesses) {
        std::vector<const AccessNotes*> parts;
        for (const Executor& e : executors_) parts.push_back(&e.watch.notes);
        result_.accesses = AccessNotes::merge(parts);
    } else {
        memory_.for_each([&](const Allocation& a) {
            if (a.on_heap) return;
            if (a.touched & Allocation::Read) result_.accesses.push_back({a.base, a.bytes, device::MemoryUse::read});
            if (a.touched & Allocation::Written)
                result_.accesses.push_back({a.base, a.bytes, device::MemoryUse::write});
        });
    }
    std::erase_if(result_.accesses,
                  [&](const device::MemoryAccess& access) { return access.address - workspace_ < workspace_bytes; });
}

LaunchResult Grid::run() {
    const Code& code = launch_.code;
    // The driver gives each cooperative launch a workspace with its size and the counter of grid.sync().
    const bool needs_workspace =
        launch_.config.cooperative && code.used_specials >> static_cast<unsigned>(Special::EnvReg2) & 1;
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
    begin_progress();
    if (!try_parallel()) {
        new_caches(1);
        executors_.resize(1);
        prepare(executors_[0], 0, false);
        // Blocks that do not communicate run one by one.
        const bool together = code.synchronises_globally || launch_.limits.runs_together();
        run_in_turns(executors_[0], together ? launch_.limits.resident_blocks : 1);
    }
    launch_.progress.running = 0;
    collect_accesses();
    collect_memory();
    collect_counters();
    if (launch_.blocks != launch_.config.grid.count()) scale_sample();
    if (launch_.limits.trace_accesses) collect_trace();
    // Advice would compare counts of a sample with those of the whole grid.
    if (launch_.limits.checks.advice && !result_.fault && result_.sampled_blocks == 0)
        result_.use = measure_launch_use(launch_, executors_);
    std::vector<Findings*> found;
    for (Executor& e : executors_) found.push_back(&e.watch.findings);
    result_.diagnostics = Findings::merge(found);
    tidy(result_.diagnostics);
    note_wholly_unwritten(result_.diagnostics, memory_);
    if (launch_.limits.checks.init)
        std::ranges::move(find_unset_constants(launch_, executors_), std::back_inserter(result_.diagnostics));
    const device::Checks& checks = launch_.limits.checks;
    if (checks.race && checks.init && checks.sync && !result_.fault &&
        std::ranges::none_of(result_.diagnostics, [](const device::Diagnostic& one) {
            return one.rule->severity == device::Severity::Error;
        })) {
        result_.any_data = say_of_other_data();
        result_.any_order = has_any_order();
    }
    if (result_.fault) result_.diagnostics.insert(result_.diagnostics.begin(), result_.fault->diagnostic);
    result_.printed = launch_.output.take();
    if (!result_.fault) result_.children = std::move(launch_.children);
    return std::move(result_);
}

device::AnyData Grid::say_of_other_data() const {
    constexpr const char* because[] = {"", "address", "branch", "order", "calls"};  // by DataDependence::On
    const DataDependence& found = launch_.code.data_dependence;
    const auto open = [&](const char* why, const Insn& insn) {
        return device::AnyData{.holds = false, .because = why, .place = launch_.source_place(insn)};
    };
    if (found.on != DataDependence::On::nothing)
        return open(because[static_cast<std::size_t>(found.on)], launch_.code.insns[found.insn]);
    const Insn* harmless = nullptr;
    for (const Executor& e : executors_)
        if (const Insn* store = e.watch.harmless_store; store && (!harmless || store < harmless)) harmless = store;
    return harmless ? open("value", *harmless) : device::AnyData{.holds = true, .because = {}, .place = {}};
}

// Without races, barriers alone decide what each thread reads, if the code has nothing else that asks for the order.
bool Grid::has_any_order() const {
    return launch_.code.any_order && launch_.tracks.all_watched() &&
           std::ranges::none_of(executors_, [](const Executor& e) { return e.watch.order_may_matter; });
}

void Grid::collect_memory() {
    memory_.for_each([&](Allocation& a) {
        if (a.touched & (Allocation::Read | Allocation::Updated)) result_.read_from.push_back(a.base);
        if (a.touched & Allocation::Written) {
            result_.written_to.push_back(a.base);
            memory_.note_change(a);
        }
        if (!(a.touched & (Allocation::Read | Allocation::Written)) || a.home == Allocation::Home::Mapped) return;
        result_.traffic.footprint_bytes += a.bytes;
        if (a.home == Allocation::Home::Managed) result_.traffic.migrated_bytes += a.bytes;
        a.home = Allocation::Home::Device;
    });
    const WorkSpread& spread = caches_->spread();
    result_.most_block_instructions = spread.most_instructions();
    // If blocks ask one place again and again, those that do so for longest only wait, which is no work; or they fetch
    // their work from there, and here the first to run does all of it.
    if (!launch_.code.polls)
        result_.spread = {spread.busiest_issue(), spread.busiest_l1(), spread.longest_warp(),
                          spread.longest_of_block()};
    for (const Executor& e : executors_) {
        result_.traffic.mapped_read_sectors += e.mapped_read_sectors;
        result_.traffic.mapped_write_sectors += e.mapped_write_sectors;
        result_.traffic.busiest_atomic_cycles += e.atomics.busiest_cycles();  // they run on one host thread
    }
}

}  // namespace warpgrade::vgpu

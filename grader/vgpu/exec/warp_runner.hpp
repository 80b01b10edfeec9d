// One turn of a warp: its splits run until all lanes have exited or wait, or the turn is used up. The parts are in
// scheduler.cpp (turns, branches), warp_calls.cpp (calls, returns), warp_sync.cpp (barriers, collectives, exits) and
// deadlock.cpp (which threads wait where, for messages).
#pragma once

#include "vgpu/checks/undefined.hpp"
#include "vgpu/exec/grid.hpp"

namespace warpgrade::vgpu {

enum class Turn : std::uint8_t {
    Waits,  // every lane has exited or waits for another warp
    Spins,  // used up by synchronising operations: others should run
    Slice,  // used up by a long computation
};

class WarpRunner {
  public:
    WarpRunner(Executor& executor, BlockState& of_block, Warp& warp)
        : e(executor), block(of_block), w(warp), code(*executor.code) {}
    Turn run();

  private:
    enum class Ran : std::uint8_t { Rescheduled, TurnOver };

    // scheduler.cpp
    [[nodiscard]] bool runs_in_steps() const;
    int pick();
    [[nodiscard]] bool before(const Split& a, const Split& b) const;
    // Lanes that are kept apart wait for each other, but are never merged.
    [[nodiscard]] bool may_merge(const Split& a, const Split& b) const {
        return (a.mask & w.first_lanes) == 0 ? (b.mask & w.first_lanes) == 0 : (b.mask & w.first_lanes) != 0;
    }
    [[nodiscard]] std::uint32_t reconvergence_point(std::size_t self) const;
    template <bool Checking, bool Steps = false>
    Ran run_split(std::size_t self);
    void add_split(std::uint32_t pc, std::uint32_t mask, std::uint32_t frame);
    void remove(std::size_t index) { w.splits.erase(w.splits.begin() + static_cast<std::ptrdiff_t>(index)); }
    void enter_frame(std::uint32_t frame);
    [[nodiscard]] std::string trap_message() const;
    void charge(const Insn& at, std::uint32_t mask);
    void branch_indexed(const Insn& in, const BasicBlock& b, std::uint32_t pc, std::uint32_t mask);

    // warp_calls.cpp
    void call(const CallSite& site, std::uint32_t site_index, std::size_t self, std::uint32_t resume,
              std::uint32_t mask, const Insn& in);
    void call_indirect(const CallSite& site, std::uint32_t site_index, std::size_t self, std::uint32_t resume,
                       std::uint32_t mask, const Insn& in);
    std::uint32_t enter_function(std::uint32_t function, const CallSite& site, std::uint32_t site_index,
                                 std::uint32_t resume, std::uint32_t mask, const Insn& in);
    [[nodiscard]] std::uint32_t free_frame(std::uint32_t bytes);
    [[nodiscard]] std::uint32_t pointed_function(std::uint64_t address, const CallSite& site, unsigned lane,
                                                 const Insn& in) const;
    void return_lanes(std::uint32_t lanes);

    // warp_sync.cpp
    bool arrive(const Insn& in, std::size_t self, std::uint32_t resume, std::uint32_t mask);
    void complete(std::uint32_t barrier);
    bool collective(const Insn& in, std::size_t self, std::uint32_t resume, std::uint32_t mask);
    void perform_if_complete(std::uint32_t members, std::uint32_t kind);
    // __syncwarp() is the only collective that orders memory.
    void synchronised(std::uint32_t collective) {
        if (e.watch.values && collective == code.warp_sync) w.watch.warp_bound = mark::at_time(++e.watch.now);
    }
    void begin_collective(const Insn& in, std::uint32_t mask) {
        if (!e.watch.values) return;
        w.watch.exchanged.clear();
        gather_exchanged(w, in, mask);
        define_results(w, in, mask);
    }
    void exit_lanes(std::uint32_t lanes, std::uint32_t last);

    Executor& e;
    BlockState& block;
    Warp& w;
    const Code& code;
};

// deadlock.cpp: all live threads of the block wait for something that cannot happen.
[[noreturn]] void raise_deadlock(const Executor& executor, const BlockState& block);

}  // namespace warpgrade::vgpu

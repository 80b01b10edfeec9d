// One turn of a warp: its splits run until all lanes have exited or wait, or the turn is used up. The parts stand in
// files of their own: scheduler.cpp (turns, branches), warp_calls.cpp (calls, returns), warp_sync.cpp (barriers,
// collectives, exits), synccheck.cpp (mistakes with these), deadlock.cpp (who waits where, for messages).
#pragma once

#include "vgpu/grid.hpp"

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
    int pick();
    [[nodiscard]] bool before(const Split& a, const Split& b) const;
    [[nodiscard]] std::uint32_t meeting_point(std::size_t self) const;
    template <bool Checking>
    Ran run_split(std::size_t self);
    [[nodiscard]] std::uint32_t condition(const Insn& in, std::uint32_t mask) const;
    void add_split(std::uint32_t pc, std::uint32_t mask, std::uint32_t frame);
    void remove(std::size_t index) { w.splits.erase(w.splits.begin() + static_cast<std::ptrdiff_t>(index)); }
    void enter_frame(std::uint32_t frame);
    [[nodiscard]] std::string trap_message(const std::string& what) const;
    void charge(const Insn& at, std::uint32_t mask);
    void branch_indexed(const Insn& in, const BasicBlock& b, std::uint32_t pc, std::uint32_t mask);

    // undefined.cpp: registers that hold what nothing has written
    void run_watched(const BasicBlock& b, std::uint32_t mask);  // the instructions of b, its terminator aside
    void run_insns(const Insn* begin, const Insn* end, std::uint32_t mask);
    void run_carefully(const Insn* begin, const Insn* end, std::uint32_t mask);
    void check_use(const Insn& in, std::uint32_t mask);
    void begin_collective(const Insn& in, std::uint32_t mask) {
        if (e.watching) define_results(in, mask);
    }
    void define_results(const Insn& in, std::uint32_t mask);  // of a collective
    [[nodiscard]] std::uint32_t undefined_at(Ref place) const;
    void set_undefined(Ref place, std::uint32_t lanes, std::uint32_t undefined, const UndefinedOrigin& origin);

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
    // Of the collectives, __syncwarp() orders memory.
    void meet(std::uint32_t collective) {
        if (e.watching && collective == code.warp_sync) w.warp_bound = mark::at_time(++e.now);
    }
    void exit_lanes(std::uint32_t lanes, std::uint32_t last);

    // synccheck.cpp: what barriers and masks are used for wrongly. Called only when something is wrong.
    void report_divergent_barrier(std::uint32_t barrier);
    void report_foreign_mask(const Insn& in, std::uint32_t members, std::uint32_t strangers);
    void look_for_departed(const Insn& barrier, std::uint32_t id);
    void look_for_departed_members(const Insn& in, std::uint32_t members, std::uint32_t callers);
    [[nodiscard]] bool passed_by(Departure& departure, const Insn& in) const;

    Executor& e;
    BlockState& block;
    Warp& w;
    const Code& code;
};

// deadlock.cpp: all live threads of the block wait and nothing can release them.
[[noreturn]] void raise_deadlock(const Executor& executor, const BlockState& block);
// For messages: "__syncthreads()" or "barrier 3"; "__shfl_down_sync".
std::string barrier_name(const Insn& in, std::uint32_t id);
std::string collective_name(const Code& code, const Insn& in);

}  // namespace warpgrade::vgpu

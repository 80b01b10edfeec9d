#include "vgpu/code/calls.hpp"

namespace warpgrade::vgpu {
namespace {

// Of a call and its return: instructions around them, and how long a warp takes for both, in quarters of the latency of
// an addition. If registers are saved, the way back is one of them, and comes from the stack; each is stored and loaded
// in turn (tests/model/h100.md, "calls").
constexpr std::uint64_t call_instructions = 10, call_time = 74, stack_time = 85, saved_time = 9;

}  // namespace

void add_call_cost(Code& code, const FunctionCode& function, const SavedRegisters* saved) {
    std::uint64_t registers = 0;
    if (saved != nullptr) {
        const auto called = saved->find(function.name);
        if (called == saved->end()) return;
        registers = called->second;
    }
    BasicBlock& block = code.blocks[function.entry_block];
    block.cost.further += call_instructions + 2 * registers;
    block.cost.stack_requests += 2 * registers;
    block.path += block.turns * (call_time + (registers > 0 ? stack_time + saved_time * registers : 0));
}

}  // namespace warpgrade::vgpu

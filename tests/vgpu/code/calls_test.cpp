#include "vgpu/code/calls.hpp"

#include <string>

#include "judge/catch.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"

using namespace warpgrade::vgpu;

namespace {

// The block with which function f begins, which kernel k calls.
BasicBlock called_block(const SavedRegisters* saved) {
    const auto module = ptx::parse(
        ".version 8.6\n.target sm_90\n.address_size 64\n.func f() {\n.reg .b32 %r<2>;\nadd.u32 %r1, %r1, 1;\nret;\n}\n"
        ".visible .entry k() {\ncall.uni f, ();\nret;\n}\n");
    const Code code = decode_kernel(module, *module.find_function("k"), {}, opcode_table(), false, saved);
    return code.blocks[code.functions[1].entry_block];
}

}  // namespace

TEST_CASE("a call takes its time, and more for each register that it saves; what ptxas does not call takes none") {
    const SavedRegisters none, nothing_saved{{"f", 0}}, saved{{"f", 5}};
    const BasicBlock inlined = called_block(&none), called = called_block(&nothing_saved), keeps = called_block(&saved);
    CHECK(inlined.cost == MachineCost{});
    CHECK(called.cost.further == 10);
    CHECK(called.cost.stack_requests == 0);
    CHECK(called.path == inlined.path + 74);
    CHECK(called.issue_tenths == inlined.issue_tenths + 100);
    CHECK(keeps.cost.further == 20);
    CHECK(keeps.cost.stack_requests == 10);
    CHECK(keeps.path == called.path + 85 + 5 * 9);
    const BasicBlock unknown = called_block(nullptr);
    CHECK(unknown.path == called.path);
    CHECK(unknown.cost == called.cost);
}

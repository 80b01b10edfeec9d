// Which loads of constant memory serve all lanes at once, and which of their values.
#include <string>
#include <utility>
#include <vector>

#include "judge/catch.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"

using namespace warpgrade;

namespace {

using Values = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // shared, of

// A loop with this body, in which %i counts up to `until` and %d1 is its place in a table.
Values uniform_loads(const std::string& body, const std::string& until = "%n") {
    const auto module = vgpu::ptx::parse(
        ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 16 .b8 table[4096];\n"
        ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n.reg .b64 %a, %d<6>;\n.reg .b32 %i, %n, %r<9>;\n.reg .f32 "
        "%f<9>;\n"
        ".reg .pred %p, %q;\nld.param.u64 %a, [a];\nld.param.u32 %n, [n];\nmov.u32 %r1, %tid.x;\nmov.u32 %i, 0;\n"
        "L:\nmul.wide.u32 %d1, %i, 16;\nmov.u64 %d2, table;\nadd.s64 %d1, %d1, %d2;\n" +
        body + "add.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, " + until + ";\n@%p bra L;\nret;\n}\n");
    const vgpu::SymbolTable symbols = {{"table", {vgpu::ptx::Space::Const, 1 << 20, 4096}}};
    const auto code = vgpu::decode_kernel(module, *module.find_function("k"), symbols, vgpu::opcode_table());
    Values found;
    for (const vgpu::UniformLoad& load : code.uniform_loads) found.emplace_back(load.shared, load.of);
    return found;
}

}  // namespace

TEST_CASE("a load is uniform if its address depends on no thread") {
    const std::string load = "ld.const.f32 %f1, [%d1];\n", at = "add.s64 %d1, %d1, %d3;\n" + load;
    CHECK(uniform_loads(load) == Values{{1, 1}});
    CHECK(uniform_loads("mov.u32 %r2, %ctaid.x;\nmul.wide.u32 %d3, %r2, 16;\n" + at) == Values{{1, 1}});
    CHECK(uniform_loads("ld.const.u64 %d3, [table];\n" + at) == Values{{1, 1}});  // the first is an operand
    for (const char* own : {"mul.wide.u32 %d3, %r1, 16;\n", "ld.global.u64 %d3, [%a];\n",
                            "mov.u32 %r2, %laneid;\nmul.wide.u32 %d3, %r2, 4;\n",
                            "shfl.sync.idx.b32 %r2, %i, 3, 31, -1;\nmul.wide.u32 %d3, %r2, 4;\n",
                            "atom.global.add.u32 %r2, [%a], 1;\nmul.wide.u32 %d3, %r2, 4;\n"}) {
        CAPTURE(own);
        CHECK(uniform_loads(own + at).empty());
    }
    CHECK(uniform_loads("ld.const.f32 %f1, [table+16];\n").empty());
}

TEST_CASE("lanes that leave a loop at different times have no place in common") {
    CHECK(uniform_loads("ld.const.f32 %f1, [%d1];\nsetp.gt.u32 %q, %r1, %i;\n@%q bra E;\nE:\n") == Values{{1, 1}});
    CHECK(uniform_loads("setp.gt.u32 %q, %r1, %i;\n@%q bra E;\nld.const.f32 %f1, [%d1];\nadd.u32 %i, %i, 1;\nE:\n")
              .empty());
}

TEST_CASE("an instruction takes one value that all lanes share") {
    const std::string row = "ld.const.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];\n";
    CHECK(uniform_loads(row) == Values{{4, 4}});
    CHECK(uniform_loads(row + "fma.rn.f32 %f5, %f1, %f6, %f3;\n") == Values{{3, 4}});
    CHECK(uniform_loads(row + "fma.rn.f32 %f5, %f1, %f6, %f3;\nfma.rn.f32 %f6, %f2, %f6, %f4;\n") == Values{{2, 4}});
    CHECK(uniform_loads(row + "mul.f32 %f5, %f4, %f4;\n") == Values{{3, 4}});
    CHECK(uniform_loads(row + "fma.rn.f32 %f5, %f1, %f6, %f7;\nadd.f32 %f5, %f5, %f2;\n") == Values{{4, 4}});
}

TEST_CASE("ptxas knows the addresses of a loop that it makes turn by turn") {
    const std::string load = "ld.const.f32 %f1, [%d1];\n";
    CHECK(uniform_loads(load, "169").empty());
    CHECK(uniform_loads(load, "%n") == Values{{1, 1}});
    // A root has a branch of its own, so the loop is left as it is.
    const std::string branch = "setp.gt.f32 %q, %f1, %f2;\n@%q bra E;\n";
    CHECK(uniform_loads(load + branch + "add.f32 %f3, %f3, %f1;\nE:\n", "169").empty());
    CHECK(uniform_loads(load + branch + "sqrt.rn.f32 %f3, %f1;\nE:\n", "169") == Values{{1, 1}});
}

TEST_CASE("in a function with a loop that lanes leave at different times, they load for themselves") {
    const auto with = [](const std::string& turns) {
        return uniform_loads(
            "ld.const.f32 %f1, [%d1];\nmov.u32 %r2, 0;\nI: add.u32 %r2, %r2, 1;\n"
            "setp.lt.u32 %q, %r2, " +
            turns + ";\n@%q bra I;\n");
    };
    CHECK(with("%r1").empty());
    CHECK(with("%n") == Values{{1, 1}});
}

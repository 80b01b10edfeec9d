// What ptxas makes of short branches and of neighbouring loads of shared memory.
#include "judge/catch.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"

using namespace warpgrade;

namespace {

vgpu::Code decode(const std::string& body) {
    const auto module = vgpu::ptx::parse(
        ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 4 .b8 tile[4096];\n"
        ".visible .entry k(.param .u64 a) {\n.reg .b32 %r<20>;\n.reg .b64 %d<9>;\n.reg .pred %p<9>;\n" +
        body + "ret;\n}\n");
    vgpu::SymbolTable symbols;
    return vgpu::decode_kernel(module, *module.find_function("k"), symbols, vgpu::opcode_table());
}

// By load, in order: how many ptxas makes one of, of which it is one.
std::vector<std::uint32_t> merged(const std::string& body) {
    const vgpu::Code code = decode(body);
    std::vector<std::uint32_t> all;
    for (std::size_t slot = 0; slot < code.stat_kinds.size(); ++slot) {
        if (code.stat_kinds[slot] != vgpu::StatKind::SharedLoad) continue;
        const auto is_it = [&](const vgpu::MergedLoad& load) { return load.insn == code.stat_insns[slot]; };
        const auto found = std::ranges::find_if(code.merged_loads, is_it);
        all.push_back(found == code.merged_loads.end() ? 1 : found->of);
    }
    return all;
}
using Merged = std::vector<std::uint32_t>;

std::string loads(const std::string& base, const std::vector<int>& offsets) {
    std::string body;
    for (const int offset : offsets) body += "ld.shared.u32 %r9, [" + base + "+" + std::to_string(offset) + "];\n";
    return body;
}

// A branch around so many instructions; true if it becomes predicates.
bool is_predicated(const std::string& inside) {
    return decode("setp.lt.u32 %p1, %r1, 7;\n@%p1 bra OVER;\n" + inside + "OVER:\nadd.u32 %r2, %r2, 1;\n")
               .blocks.at(0)
               .predicated_until > 0;
}

std::string additions(int count) {
    std::string body;
    for (int i = 0; i < count; ++i) body += "add.u32 %r3, %r3, 1;\n";
    return body;
}

}  // namespace

TEST_CASE("four aligned words of shared memory are loaded at once, or two") {
    CHECK(merged(loads("tile", {0, 4, 8, 12})) == Merged{4, 4, 4, 4});
    CHECK(merged(loads("tile", {12, 0, 8, 4})) == Merged{4, 4, 4, 4});
    CHECK(merged(loads("tile", {4, 8, 12, 16})) == Merged{1, 2, 2, 1});
    CHECK(merged(loads("tile", {0, 4, 8})) == Merged{2, 2, 1});
    CHECK(merged(loads("tile", {0, 8, 16})) == Merged{1, 1, 1});
    CHECK(merged("ld.shared.v2.u32 {%r8, %r9}, [tile];\n" + loads("tile", {8, 12})) == Merged{1, 2, 2});
}

TEST_CASE("only what is certainly aligned is loaded at once") {
    const std::string words = loads("%r5", {0, 4, 8, 12});
    CHECK(merged("mov.u32 %r5, tile;\n" + words) == Merged{4, 4, 4, 4});
    CHECK(merged("mov.u32 %r5, %tid.x;\n" + words) == Merged{1, 1, 1, 1});
    const auto scaled = [&](const std::string& how) {
        return merged("mov.u32 %r1, %tid.x;\nmov.u32 %r3, tile;\n" + how + "add.u32 %r5, %r3, %r4;\n" + words);
    };
    CHECK(scaled("shl.b32 %r4, %r1, 4;\n") == Merged{4, 4, 4, 4});
    CHECK(scaled("mul.lo.u32 %r4, %r1, 24;\n") == Merged{2, 2, 2, 2});
    CHECK(scaled("mul.lo.u32 %r4, %r1, 68;\n") == Merged{1, 1, 1, 1});
    CHECK(scaled("and.b32 %r4, %r1, 48;\n") == Merged{4, 4, 4, 4});
    CHECK(scaled("mad.lo.u32 %r4, %r1, 32, 8;\n") == Merged{2, 2, 2, 2});
    CHECK(scaled("min.u32 %r4, %r1, 16;\n") == Merged{1, 1, 1, 1});
    // In a loop, after each of its turns.
    const auto in_steps = [&](const std::string& step) {
        return merged("mov.u32 %r5, tile;\nTOP:\n" + words + "add.u32 %r5, %r5, " + step +
                      ";\nsetp.lt.u32 %p1, %r5, 999;\n@%p1 bra TOP;\n");
    };
    CHECK(in_steps("16") == Merged{4, 4, 4, 4});
    CHECK(in_steps("8") == Merged{2, 2, 2, 2});
    CHECK(in_steps("4") == Merged{1, 1, 1, 1});
    // A constant that is added first.
    CHECK(merged("mov.u32 %r5, tile;\nadd.u32 %r6, %r5, 8;\n" + loads("%r5", {0, 4}) + loads("%r6", {0, 4})) ==
          Merged{4, 4, 4, 4});
}

TEST_CASE("what is loaded again and again is loaded once") {
    CHECK(merged("mov.u32 %r5, %tid.x;\n" + loads("%r5", {0, 0, 8, 0})) == Merged{3, 3, 1, 3});
    CHECK(merged(loads("tile", {0, 4, 0, 4})) == Merged{4, 4, 4, 4});
    CHECK(merged("mov.u32 %r5, %tid.x;\n" + loads("%r5", {0}) + "bar.sync 0;\n" + loads("%r5", {0})) == Merged{1, 1});
}

TEST_CASE("loads are not merged across what may change their memory, nor from one block to the next") {
    const auto apart = [](const std::string& between) {
        return merged(loads("tile", {0, 4}) + between + loads("tile", {8, 12}));
    };
    CHECK(apart("st.global.u32 [%d1], %r1;\n") == Merged{4, 4, 4, 4});
    CHECK(apart("st.shared.u32 [tile], %r1;\n") == Merged{2, 2, 2, 2});
    CHECK(apart("bar.sync 0;\n") == Merged{2, 2, 2, 2});
    CHECK(apart("atom.shared.add.u32 %r1, [tile], 1;\n") == Merged{2, 2, 2, 2});
    const std::string jump = "setp.lt.u32 %p1, %r1, 7;\n@%p1 bra OVER;\n";
    CHECK(apart(jump + additions(3) + "OVER:\n") == Merged{4, 4, 4, 4});
    CHECK(apart(jump + additions(13) + "OVER:\n") == Merged{2, 2, 2, 2});
}

TEST_CASE("a store comes right behind another one to the same sector, unless something holds it back") {
    const auto following = [](const std::string& between, const std::string& place) {
        return decode("st.global.u32 [%d1], %r1;\n" + between + "st.global.u32 " + place + ", %r2;\n")
            .following_stores.size();
    };
    CHECK(following("", "[%d1+4]") == 1);
    CHECK(following("", "[%d1+-28]") == 1);
    CHECK(following("add.s64 %d2, %d1, 8;\n", "[%d2]") == 1);
    CHECK(following("", "[%d1+32]") == 0);
    CHECK(following("", "[%d2+4]") == 0);
    CHECK(following(additions(23), "[%d1+4]") == 1);
    CHECK(following(additions(24), "[%d1+4]") == 0);
    CHECK(following("ld.global.nc.u32 %r3, [%d3];\nld.shared.u32 %r3, [tile];\n", "[%d1+4]") == 1);
    for (const char* holds : {"ld.global.u32 %r3, [%d3];\n", "bar.sync 0;\n", "fence.acq_rel.gpu;\n",
                              "atom.global.add.u32 %r3, [%d3], 1;\n", "st.global.u32 [%d3], %r1;\n"})
        CHECK(following(holds, "[%d1+4]") == 0);
    CHECK(following("st.shared.u32 [tile], %r1;\n", "[%d1+4]") == 1);
}

TEST_CASE("a branch around little becomes predicates") {
    CHECK(is_predicated(additions(1)));
    CHECK(is_predicated(additions(12)));
    CHECK_FALSE(is_predicated(additions(13)));
    CHECK(is_predicated("st.global.u32 [%d1], %r1;\n"));
    CHECK(is_predicated("bra ELSE;\nELSE:\n"));
    CHECK_FALSE(is_predicated("bar.sync 0;\n"));
    CHECK_FALSE(is_predicated("AGAIN:\nsetp.lt.u32 %p2, %r3, %r4;\n@%p2 bra AGAIN;\n"));
    CHECK_FALSE(is_predicated("exit;\n"));
    // What is loaded behind it decides a branch.
    const std::string decides = "setp.lt.u32 %p2, %r3, %r4;\n@%p2 bra OVER;\nadd.u32 %r5, %r5, 1;\n";
    CHECK(is_predicated(decides));
    CHECK(is_predicated("ld.global.u32 %r5, [%d1];\n"));
    CHECK(is_predicated("ld.shared.u32 %r3, [tile];\n" + decides));
    CHECK_FALSE(is_predicated("ld.global.u32 %r3, [%d1];\n" + decides));
    // An exact quotient is a branch in machine code.
    CHECK(is_predicated(".reg .f32 %f<3>;\ndiv.full.f32 %f1, %f1, %f2;\n"));
    CHECK_FALSE(is_predicated(".reg .f32 %f<3>;\ndiv.rn.f32 %f1, %f1, %f2;\n"));
}

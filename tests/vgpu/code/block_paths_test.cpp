// How long one warp takes for a block: what waits for what, and which loops ptxas unrolls.
#include "judge/catch.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"

using namespace warpgrade;

namespace {

vgpu::Code decode(const std::string& body) {
    const auto module = vgpu::ptx::parse(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) {\n.reg .b32 %r<20>;\n"
        ".reg .f32 %f<20>;\n.reg .b64 %d<9>;\n.reg .pred %p<9>;\n" +
        body + "ret;\n}\n");
    return vgpu::decode_kernel(module, *module.find_function("k"), {}, vgpu::opcode_table());
}

std::uint64_t path_of_straight(const std::string& body) { return decode(body).blocks.at(0).path; }

struct Loop {
    std::uint64_t path;
    std::uint32_t turns;
};
Loop loop(const std::string& body, const std::string& label = "", const std::string& step = "1") {
    const vgpu::Code code = decode("mov.u32 %r1, 0;\nTOP:\n" + label + body + "add.u32 %r1, %r1, " + step +
                                   ";\nsetp.lt.u32 %p1, %r1, %r9;\n@%p1 bra TOP;\n");
    return {code.blocks.at(1).path, code.blocks.at(1).turns};
}

const std::string root = "rsqrt.approx.ftz.f32 %f1, %f1;\n", pragma = ".pragma \"nounroll\";\n";

}  // namespace

TEST_CASE("what depends on each other takes one latency after the other, what does not takes one") {
    const std::string add = "add.f32 %f1, %f1, %f9;\n";
    const auto one = path_of_straight(add + "mov.u32 %r1, 1;\n"), four = path_of_straight(add + add + add + add);
    CHECK(four - path_of_straight(add + add) == 8);  // two additions of four quarters
    CHECK(path_of_straight("add.f32 %f1, %f1, %f9;\nadd.f32 %f2, %f2, %f9;\nadd.f32 %f3, %f3, %f9;\n") == 4);
    CHECK(one == 3);  // as many instructions as are issued
}

TEST_CASE("roots, quotients and exchanges take longer than additions, moves nothing") {
    const auto more = [](const std::string& of) { return path_of_straight(of + of) - 4; };
    CHECK(more(root) == path_of_straight(root + root) - 4);
    CHECK(path_of_straight(root + root) == 4 + 28);
    CHECK(path_of_straight("div.rn.f32 %f1, %f1, %f9;\nadd.f32 %f1, %f1, %f9;\n") == 4 + 10 * 2 + 4 * 14);
    CHECK(path_of_straight("shfl.sync.bfly.b32 %r1|%p1, %r1, 1, 31, -1;\n") <= 4);
    CHECK(path_of_straight("mov.b32 %r1, %r2;\nmov.b32 %r2, %r1;\nmov.b32 %r3, %r2;\nadd.u32 %r4, %r3, 1;\n") == 5);
}

TEST_CASE("turns of a loop overlap if ptxas unrolls it, unless they wait for each other") {
    const Loop waits = loop(root), rolled = loop(root, pragma);
    CHECK(waits.turns == 4);
    CHECK(rolled.turns == 1);
    CHECK(waits.path - 8 == 4 * (rolled.path - 8));  // a jump for four turns
    const std::string apart = "rsqrt.approx.ftz.f32 %f2, %f1;\nadd.f32 %f3, %f2, %f9;\n";
    CHECK(loop(apart).path == loop(apart, pragma).path);
    CHECK(loop(root, "", "%r8").turns == 1);  // grows by what the compiler does not know
}

TEST_CASE("a very long loop is analysed in reasonable time") {
    std::string body;
    for (int i = 0; i < 50'000; ++i) body += "add.f32 %f1, %f1, %f9;\n";
    CHECK(loop(body).turns == 4);
}

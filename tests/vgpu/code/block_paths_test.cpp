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
    CHECK(path_of_straight("mov.u32 %r1, 1;\nmov.u32 %r2, 1;\nmov.u32 %r3, 1;\nmov.u32 %r4, 1;\n") == 5);  // as issued
    CHECK(path_of_straight("add.f32 %f1, %f1, %f9;\nadd.f32 %f2, %f2, %f9;\nadd.f32 %f3, %f3, %f9;\n") == 4);
    CHECK(one == 4);  // what follows waits for the sum
}

TEST_CASE("roots, quotients and exchanges take longer than additions, moves nothing") {
    CHECK(path_of_straight(root + root) == 2 * (4 + 28));
    CHECK(path_of_straight("div.rn.f32 %f1, %f1, %f9;\nadd.f32 %f1, %f1, %f9;\n") == 4 + 10 * 2 + 4 * 14 + 4);
    CHECK(path_of_straight("shfl.sync.bfly.b32 %r1|%p1, %r1, 1, 31, -1;\n") == 4 + 20);
    CHECK(path_of_straight("mov.b32 %r1, %r2;\nmov.b32 %r2, %r1;\nmov.b32 %r3, %r2;\nadd.u32 %r4, %r3, 1;\n") == 5);
}

TEST_CASE("exchanges that do not wait for each other overlap, although lanes meet at each") {
    const auto exchange = [](int to, int from) {
        return "shfl.sync.idx.b32 %r" + std::to_string(to) + "|%p1, %r" + std::to_string(from) + ", 0, 31, -1;\n";
    };
    const auto apart = path_of_straight(exchange(1, 9) + exchange(2, 9) + exchange(3, 9) + exchange(4, 9)),
               chain = path_of_straight(exchange(1, 9) + exchange(2, 1) + exchange(3, 2) + exchange(4, 3));
    CHECK(chain == 4 * 24);
    CHECK(apart == 24);
    // Not past a place to which others jump.
    CHECK(path_of_straight(exchange(1, 9) + "NEXT:\n" + exchange(2, 9) + "@%p2 bra NEXT;\n") == 24);
}

TEST_CASE("turns of a loop overlap if ptxas unrolls it, unless they wait for each other") {
    const Loop waits = loop(root), rolled = loop(root, pragma);
    CHECK(waits.turns == 4);
    CHECK(rolled.turns == 1);
    CHECK(waits.path - 16 == 4 * (rolled.path - 16));  // a jump for four turns
    const std::string apart = "rsqrt.approx.ftz.f32 %f2, %f1;\nadd.f32 %f3, %f2, %f9;\n";
    CHECK(loop(apart).path == loop(apart, pragma).path);
    CHECK(loop(root, "", "%r8").turns == 1);  // grows by what the compiler does not know
}

TEST_CASE("a very long loop is analysed in reasonable time") {
    std::string body;
    for (int i = 0; i < 50'000; ++i) body += "add.f32 %f1, %f1, %f9;\n";
    CHECK(loop(body).path > 200'000);
}

TEST_CASE("ptxas unrolls short loops that store nothing") {
    const auto adds = [](int count) {
        std::string body;
        for (int i = 0; i < count; ++i) body += "add.f32 %f1, %f1, %f9;\n";
        return body;
    };
    CHECK(loop(adds(42)).turns == 4);  // with the three that count and jump
    CHECK(loop(adds(43)).turns == 1);
    CHECK(loop("st.global.f32 [%d1], %f9;\n").turns == 1);
}

TEST_CASE("instructions move past a few others, and past no exact quotient") {
    const std::string chain = "ex2.approx.ftz.f32 %f1, %f1;\n", other = "ex2.approx.ftz.f32 %f2, %f2;\n";
    const auto times = [](int count, const std::string& what) {
        std::string all;
        for (int i = 0; i < count; ++i) all += what;
        return all;
    };
    const auto eight = path_of_straight(times(8, chain));
    CHECK(path_of_straight(times(8, chain) + times(8, other)) == eight);
    CHECK(path_of_straight(times(40, chain) + times(40, other)) > 6 * eight);  // 24 at most
    CHECK(path_of_straight(times(40, chain + other)) == path_of_straight(times(40, chain)));
    const auto quotients = [](const std::string& divide) {
        return path_of_straight(divide + " %f1, %f1, %f9;\n" + divide + " %f2, %f2, %f9;\n");
    };
    CHECK(quotients("div.full.f32") < 1.2 * path_of_straight("div.full.f32 %f1, %f1, %f9;\n"));
    CHECK(quotients("div.rn.f32") == 2 * path_of_straight("div.rn.f32 %f1, %f1, %f9;\n"));
}

TEST_CASE("what predicates make one block waits through it, and counts once") {
    const auto paths = [](const std::string& inside) {
        const vgpu::Code code =
            decode(root + "setp.lt.f32 %p1, %f1, %f9;\n@%p1 bra OVER;\n" + inside + "OVER:\n" + root);
        std::vector<std::uint64_t> all;
        for (const vgpu::BasicBlock& block : code.blocks) all.push_back(block.path);
        return all;
    };
    CHECK(paths("add.f32 %f1, %f1, %f9;\n") == std::vector<std::uint64_t>{2 * 32 + 4, 0, 0, 0});
    std::string many;
    for (int i = 0; i < 13; ++i) many += "add.f32 %f2, %f2, %f9;\n";
    CHECK(paths(many) == std::vector<std::uint64_t>{32 + 4 + 16, 13 * 4, 32, 0});  // a branch
}

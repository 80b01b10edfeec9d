// Which loads wait for what loads of an earlier turn of their loop have brought.
#include <string>
#include <vector>

#include "judge/catch.hpp"
#include "vgpu/code/chains.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"

using namespace warpgrade;

namespace {

const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";

// The lines of the PTX with these loads and atomics.
std::vector<std::string> lines_of(const std::string& ptx, std::vector<std::uint32_t> vgpu::Code::*loads) {
    const auto module = vgpu::ptx::parse(ptx);
    const auto code = vgpu::decode_kernel(module, *module.find_function("k"), {}, vgpu::opcode_table());
    std::vector<std::string> found;
    for (const std::uint32_t insn : code.*loads) {
        std::size_t begin = 0;
        for (std::uint32_t line = 1; line < code.ptx_lines[insn]; ++line) begin = ptx.find('\n', begin) + 1;
        found.push_back(ptx.substr(begin, ptx.find('\n', begin) - begin));
    }
    return found;
}

using Waits = std::vector<std::pair<std::string, std::uint32_t>>;

// The loads for which a warp waits, and in how many turns.
Waits waits(const std::string& ptx) {
    const auto module = vgpu::ptx::parse(ptx);
    const auto code = vgpu::decode_kernel(module, *module.find_function("k"), {}, vgpu::opcode_table());
    Waits found;
    for (const vgpu::LoadWait& wait : code.load_waits) {
        if (wait.turns == 0) continue;  // in flight beside another
        std::size_t begin = 0;
        for (std::uint32_t line = 1; line < code.ptx_lines[wait.insn]; ++line) begin = ptx.find('\n', begin) + 1;
        found.emplace_back(ptx.substr(begin, ptx.find('\n', begin) - begin), wait.turns);
    }
    return found;
}

std::vector<std::string> chained(const std::string& ptx) { return lines_of(ptx, &vgpu::Code::chained_loads); }

// A kernel with this in a loop of %n turns, in which %i counts.
std::string loop_of(const std::string& body) {
    return head +
           ".visible .entry k(.param .u64 a, .param .u32 count) {\n"
           ".reg .b32 %r<20>;\n.reg .b64 %d<20>;\n.reg .pred %p<9>;\n.reg .b32 %i, %n;\n.reg .b64 %a;\n"
           "ld.param.u64 %a, [a];\nld.param.u32 %n, [count];\nmov.u32 %i, 0;\nmov.u32 %r1, 0;\n"
           "mov.u64 %d1, %a;\nTOP:\n" +
           body +
           "add.u32 %i, %i, 1;\nsetp.lt.u32 %p8, %i, %n;\n@%p8 bra TOP;\nEND:\nst.global.u32 [%a], %r1;\nret;\n}\n";
}

std::vector<std::string> chained_in_loop(const std::string& body) { return chained(loop_of(body)); }
std::vector<std::string> irregular_in_loop(const std::string& body) {
    return lines_of(loop_of(body), &vgpu::Code::irregular_loads);
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a load at the index that the load of the turn before has brought") {
    CHECK(chained_in_loop("mul.wide.u32 %d2, %r1, 4;\nadd.s64 %d3, %a, %d2;\nld.global.u32 %r1, [%d3];\n") ==
          Lines{"ld.global.u32 %r1, [%d3];"});
    CHECK(chained_in_loop("ld.global.u64 %d2, [%d1];\nmov.u64 %d1, %d2;\n") == Lines{"ld.global.u64 %d2, [%d1];"});
}

TEST_CASE("loads at indices that the loop computes do not wait, nor do those at indices that it loads") {
    CHECK(chained_in_loop("mul.wide.u32 %d2, %i, 4;\nadd.s64 %d3, %a, %d2;\nld.global.u32 %r2, [%d3];\n"
                          "add.u32 %r1, %r1, %r2;\n")
              .empty());
    CHECK(chained_in_loop("mul.wide.u32 %d2, %i, 4;\nadd.s64 %d3, %a, %d2;\nld.global.u32 %r2, [%d3];\n"
                          "mul.wide.u32 %d4, %r2, 4;\nadd.s64 %d5, %a, %d4;\nld.global.u32 %r3, [%d5];\n"
                          "add.u32 %r1, %r1, %r3;\n")
              .empty());
}

TEST_CASE("what a loaded value decides without deciding about addresses is no chain") {
    CHECK(chained_in_loop(
              "ld.global.u32 %r2, [%d1];\nsetp.gt.u32 %p1, %r2, 7;\n@%p1 bra SKIP;\nst.global.u32 [%a], %r2;\n"
              "SKIP:\nadd.s64 %d1, %d1, 4;\n")
              .empty());
}

TEST_CASE("loads where the turn's own loads or random numbers say are irregular, those that go on from one are not") {
    CHECK(irregular_in_loop("mul.wide.u32 %d2, %i, 4;\nadd.s64 %d3, %a, %d2;\nld.global.u32 %r2, [%d3];\n"
                            "mul.wide.u32 %d4, %r2, 4;\nadd.s64 %d5, %a, %d4;\nld.global.u32 %r3, [%d5];\n"
                            "add.u32 %r1, %r1, %r3;\n") == Lines{"ld.global.u32 %r3, [%d5];"});
    CHECK(irregular_in_loop("mad.lo.u32 %r2, %r2, 1664525, 1013904223;\nshr.u32 %r3, %r2, 8;\n"
                            "mul.wide.u32 %d2, %r3, 4;\nadd.s64 %d3, %a, %d2;\nld.global.u32 %r4, [%d3];\n") ==
          Lines{"ld.global.u32 %r4, [%d3];"});
    CHECK(irregular_in_loop("ld.global.u64 %d2, [%d1];\nmov.u64 %d1, %d2;\n") == Lines{"ld.global.u64 %d2, [%d1];"});
    CHECK(irregular_in_loop("ld.global.u32 %r2, [%d1];\nadd.s64 %d1, %d1, 4;\n").empty());
    const std::string from_loaded =
        loop_of("mul.wide.u32 %d2, %r9, 4;\nadd.s64 %d3, %a, %d2;\nld.global.u32 %r2, [%d3];\nadd.u32 %r9, %r9, 1;\n");
    const auto at = from_loaded.find("TOP:");
    CHECK(lines_of(from_loaded.substr(0, at) + "ld.global.u32 %r8, [%a];\nmov.u32 %r9, %r8;\n" + from_loaded.substr(at),
                   &vgpu::Code::irregular_loads)
              .empty());
}

TEST_CASE("every load of a chain with several in one turn") {
    CHECK(chained_in_loop("mul.wide.u32 %d2, %r1, 4;\nadd.s64 %d3, %a, %d2;\nld.global.u32 %r2, [%d3];\n"
                          "mul.wide.u32 %d4, %r2, 4;\nadd.s64 %d5, %a, %d4;\nld.shared.u32 %r1, [%r2];\n") ==
          Lines{"ld.global.u32 %r2, [%d3];", "ld.shared.u32 %r1, [%r2];"});
}

TEST_CASE("of the fields of a node the first: the others are on their way at the same time") {
    CHECK(chained_in_loop("ld.global.u32 %r2, [%d1];\nld.global.u64 %d2, [%d1+8];\nld.global.u64 %d3, [%d1+16];\n"
                          "setp.lt.u32 %p1, %r2, 7;\nselp.b64 %d1, %d2, %d3, %p1;\n") ==
          Lines{"ld.global.u32 %r2, [%d1];"});
    // Behind a branch the warp has waited for the key.
    CHECK(chained_in_loop("ld.global.u32 %r2, [%d1];\nsetp.lt.u32 %p1, %r2, 7;\n@%p1 bra LEFT;\n"
                          "ld.global.u64 %d2, [%d1+16];\nbra BOTH;\nLEFT:\nld.global.u64 %d2, [%d1+8];\nBOTH:\n"
                          "mov.u64 %d1, %d2;\n") ==
          Lines{"ld.global.u32 %r2, [%d1];", "ld.global.u64 %d2, [%d1+16];", "ld.global.u64 %d2, [%d1+8];"});
}

TEST_CASE("a loop that ends where a load finds something: the next turn waits for the branch") {
    CHECK(
        chained_in_loop("ld.global.u32 %r2, [%d1];\nsetp.eq.u32 %p1, %r2, 7;\n@%p1 bra END;\nadd.s64 %d1, %d1, 4;\n") ==
        Lines{"ld.global.u32 %r2, [%d1];"});
}

TEST_CASE("asking the same address again is waiting for others, not a chain") {
    CHECK(chained_in_loop("mov.u32 %r4, 0;\nmov.u32 %r5, 1;\natom.global.cas.b32 %r2, [%a], %r4, %r5;\n"
                          "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra END;\n")
              .empty());
    CHECK(chained_in_loop("ld.volatile.global.u32 %r2, [%a];\nsetp.eq.u32 %p1, %r2, 7;\n@%p1 bra END;\n").empty());
}

TEST_CASE("a compare-and-swap that compares with what the one before has found") {
    CHECK(chained_in_loop("add.u32 %r2, %r1, 1;\natom.global.cas.b32 %r3, [%a], %r1, %r2;\nsetp.eq.u32 %p1, %r3, %r1;\n"
                          "mov.u32 %r1, %r3;\n@%p1 bra END;\n") == Lines{"atom.global.cas.b32 %r3, [%a], %r1, %r2;"});
}

TEST_CASE("chains in functions that the kernel calls") {
    CHECK(chained(head +
                  ".func (.param .b32 result) last(.param .b64 from) {\n.reg .b32 %r<3>;\n.reg .b64 %d<3>;\n"
                  ".reg .pred %p;\nld.param.u64 %d1, [from];\nTOP:\nld.u64 %d1, [%d1];\nsetp.ne.u64 %p, %d1, 0;\n"
                  "@%p bra TOP;\nst.param.b32 [result], %r1;\nret;\n}\n"
                  ".visible .entry k(.param .u64 a) {\n.reg .b32 %r<3>;\n.reg .b64 %d<3>;\nld.param.u64 %d1, [a];\n"
                  "{\n.param .b64 p;\nst.param.b64 [p], %d1;\n.param .b32 q;\ncall.uni (q), last, (p);\n"
                  "ld.param.b32 %r1, [q];\n}\nst.global.u32 [%d1], %r1;\nret;\n}\n") == Lines{"ld.u64 %d1, [%d1];"});
}

TEST_CASE("a loop of very many instructions is analysed in reasonable time, or not at all") {
    std::string body;
    for (int i = 0; i < 20'000; ++i) {
        const std::string label = "L" + std::to_string(i);
        body += "setp.eq.u32 %p1, %r1, 7;\n@%p1 bra " + label + ";\nld.global.u32 %r1, [%d1];\n" + label + ":\n";
    }
    CHECK(chained_in_loop(body).empty());
}

TEST_CASE("a warp waits for the first load of a block, and for each that waits for another") {
    const std::string two_and_two =
        "ld.global.u32 %r2, [%d1];\nld.global.u32 %r3, [%d1+4];\nmul.wide.u32 %d2, %r2, 4;\nadd.s64 %d3, %a, %d2;\n"
        "ld.global.u32 %r4, [%d3];\nmul.wide.u32 %d4, %r3, 4;\nadd.s64 %d5, %a, %d4;\nld.global.u32 %r5, [%d5];\n"
        "add.s64 %d1, %d1, 8;\n";
    const auto expected = [](std::uint32_t turns) {
        return Waits{{"ld.global.u32 %r2, [%d1];", turns}, {"ld.global.u32 %r4, [%d3];", turns}};
    };
    const std::string loop = loop_of(two_and_two);
    const auto with = [&](const std::string& old, const std::string& text) {
        std::string changed = loop;
        return changed.replace(changed.find(old), old.size(), text);
    };
    CHECK(waits(with("setp.lt.u32 %p8, %i, %n", "setp.lt.u32 %p8, %i, 7")) == expected(4));
    CHECK(waits(loop) == expected(4));
    CHECK(waits(with("TOP:\n", "TOP:\n.pragma \"nounroll\";\n")) == expected(1));
    CHECK(waits(with("add.u32 %i, %i, 1", "add.u32 %i, %i, %n")) == expected(1));
    CHECK(waits(with("%p8, %i, %n", "%p8, %r5, %n")) == expected(1));  // ends where a load says
}

TEST_CASE("loads stay behind stores of the same memory that wait for loads, unless nothing changes them") {
    const auto copying = [](const std::string& load, const std::string& store) {
        return waits(loop_of(load + " %r2, [%d1];\n" + store + " [%a], %r2;\n" + load + " %r3, [%d1+4];\n"));
    };
    const auto count = [](const Waits& all) { return std::pair(all.size(), all.at(0).second); };
    CHECK(count(copying("ld.global.u32", "st.global.u32")) == std::pair(std::size_t{2}, 1u));
    CHECK(count(copying("ld.global.nc.u32", "st.global.u32")) == std::pair(std::size_t{1}, 1u));
    CHECK(count(copying("ld.global.u32", "st.shared.u32")) == std::pair(std::size_t{1}, 1u));
    CHECK(count(copying("ld.shared.u32", "st.shared.u32")) == std::pair(std::size_t{2}, 1u));
}

TEST_CASE("a load passes a store at another offset of its register, but nothing of a slow path") {
    const auto behind = [](const std::string& between) {
        return waits(loop_of("ld.global.u32 %r2, [%d1];\n" + between + "ld.global.u32 %r3, [%d1+4];\n")).size();
    };
    CHECK(behind("st.global.u32 [%d1+8], %r2;\n") == 1);
    CHECK(behind("st.global.u32 [%d1+4], %r2;\n") == 2);
    CHECK(behind("st.global.u32 [%d2+8], %r2;\n") == 2);
    CHECK(behind("st.volatile.global.u32 [%d2], %r2;\n") == 2);
    CHECK(behind("st.shared.u32 [%r9], %r2;\n") == 1);
    const std::string floats = ".reg .f32 %f<3>;\ncvt.rn.f32.u32 %f1, %r2;\n";
    CHECK(behind(floats + "div.rn.f32 %f2, %f1, %f1;\n") == 2);
    CHECK(behind(floats + "div.full.f32 %f2, %f1, %f1;\n") == 1);
}

TEST_CASE(
    "ptxas keeps eight registers for loads that it moves past more than two dozen instructions that wait for others") {
    const auto apart = [](int count, const std::string& first) {
        std::string body = first + "add.u32 %r3, %r2, 1;\n";
        for (int i = 0; i < count; ++i) body += "add.u32 %r4, %r4, %r3;\n";
        return waits(loop_of(body + "ld.global.u32 %r5, [%d1+4];\n")).size();
    };
    const std::string one = "ld.global.u32 %r2, [%d1];\n", four = "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d1+16];\n";
    for (const std::string& few : {one, one + four}) CHECK(apart(99, few) == 1);
    CHECK(apart(24, one + four + four) == 1);
    CHECK(apart(25, one + four + four) == 2);
}

TEST_CASE("each load knows beside which one it is in flight") {
    const auto module =
        vgpu::ptx::parse(loop_of("ld.global.u32 %r2, [%d1];\nld.global.u32 %r3, [%d1+4];\nmul.wide.u32 %d2, %r2, 4;\n"
                                 "add.s64 %d3, %a, %d2;\nld.global.u32 %r4, [%d3];\nld.global.u32 %r5, [%d3+4];\n"));
    const auto code = vgpu::decode_kernel(module, *module.find_function("k"), {}, vgpu::opcode_table());
    REQUIRE(code.load_waits.size() == 4);
    for (const std::size_t i : {0, 1, 2, 3}) {
        const std::uint32_t insn = code.load_waits[i].insn;
        CHECK(vgpu::wait_of(code, insn).head == code.load_waits[i / 2 * 2].insn);
        CHECK((vgpu::wait_of(code, insn).turns > 0) == (i % 2 == 0));
    }
}

TEST_CASE("no more than sixteen loads are in flight") {
    std::string many;
    for (int i = 0; i < 20; ++i) many += "ld.global.u32 %r2, [%d1+" + std::to_string(4 * i) + "];\n";
    const Waits all = waits(loop_of(many));
    CHECK(all == Waits{{"ld.global.u32 %r2, [%d1+0];", 1}, {"ld.global.u32 %r2, [%d1+64];", 1}});
}

TEST_CASE("an address that is mixed again and again without a loop is irregular, an index in three dimensions is not") {
    const auto mixed = [](int times) {
        std::string body;
        for (int i = 0; i < times; ++i) {
            const std::string from = i == 0 ? "%i" : "%r" + std::to_string(10 + i - 1);
            body += "mad.lo.u32 %r" + std::to_string(10 + i) + ", " + from + ", 1664525, 1013904223;\n";
        }
        return irregular_in_loop(body + "mul.wide.u32 %d2, %r" + std::to_string(10 + times - 1) +
                                 ", 4;\nadd.s64 %d3, %a, %d2;\nld.global.u32 %r4, [%d3];\n");
    };
    CHECK(mixed(2).empty());
    CHECK(mixed(3) == Lines{"ld.global.u32 %r4, [%d3];"});
}

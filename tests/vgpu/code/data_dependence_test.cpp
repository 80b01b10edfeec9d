// Whether other data in memory could change what a kernel accesses.
#include <string>

#include "judge/catch.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"

using namespace warpgrade;
using On = vgpu::DataDependence::On;

namespace {

struct Found {
    On on;
    std::string line;  // of the PTX; empty if nothing depends on data
    bool operator==(const Found&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Found& found) {
    return out << static_cast<int>(found.on) << ' ' << found.line;
}

const Found nothing{On::nothing, ""};

// %a is an array of 32-bit words, %t the thread, %d1 the address of its word, %w that word, and %s its place in an
// array in shared memory.
Found in_kernel(const std::string& body) {
    const std::string ptx =
        ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func vprintf (.param .b64 a);\n"
        ".visible .entry k(.param .u64 a, .param .u32 n) {\n"
        ".reg .b32 %r<20>, %t, %w, %s, %n;\n.reg .b64 %d<20>, %a;\n.reg .pred %p<9>;\n"
        ".local .align 4 .b8 kept[64];\n.shared .align 4 .b8 tile[1024];\n"
        "ld.param.u64 %a, [a];\nld.param.u32 %n, [n];\nmov.u32 %t, %tid.x;\n"
        "mul.wide.u32 %d1, %t, 4;\nadd.s64 %d1, %a, %d1;\nld.global.u32 %w, [%d1];\n"
        "mov.u32 %s, tile;\nshl.b32 %r1, %t, 2;\nadd.s32 %s, %s, %r1;\n" +
        body + "END:\nret;\n}\n";
    const auto module = vgpu::ptx::parse(ptx);
    const auto code = vgpu::decode_kernel(module, *module.find_function("k"), {}, vgpu::opcode_table());
    const vgpu::DataDependence& found = code.data_dependence;
    if (found.on == On::nothing) return nothing;
    std::size_t begin = 0;
    for (std::uint32_t line = 1; line < code.ptx_lines[found.insn]; ++line) begin = ptx.find('\n', begin) + 1;
    return {found.on, ptx.substr(begin, ptx.find('\n', begin) - begin)};
}

// Code that loads at the index %r2, and what is found if that is data.
const std::string load_at_r2 =
    "mul.wide.u32 %d9, %r2, 4;\nadd.s64 %d9, %a, %d9;\nld.global.u32 %r9, [%d9];\nst.global.u32 [%d1], %r9;\n";
const Found at_r2{On::address, "ld.global.u32 %r9, [%d9];"};
const std::string store_word = "st.global.u32 [%d1], %r5;\n";

}  // namespace

TEST_CASE("addresses made of threads and parameters do not depend on data, whatever is computed with it") {
    CHECK(in_kernel("mul.lo.u32 %r5, %w, %w;\n" + store_word) == nothing);
    CHECK(in_kernel("add.u32 %r2, %t, %n;\n" + load_at_r2) == nothing);
    CHECK(in_kernel("red.global.add.u32 [%d1], %w;\n") == nothing);
    CHECK(in_kernel("atom.global.cas.b32 %r5, [%d1], %w, %w;\n" + store_word) == nothing);
}

TEST_CASE("an address made of loaded values, also through other lanes, selections and other threads' order") {
    CHECK(in_kernel("add.u32 %r2, %w, 1;\n" + load_at_r2) == at_r2);
    CHECK(in_kernel("shfl.sync.idx.b32 %r2, %w, 0, 31, -1;\n" + load_at_r2) == at_r2);
    CHECK(in_kernel("setp.lt.u32 %p1, %w, 7;\nselp.u32 %r2, 1, 2, %p1;\n" + load_at_r2) == at_r2);
    CHECK(in_kernel("setp.lt.u32 %p1, %w, 7;\nmov.u32 %r2, 1;\n@%p1 mov.u32 %r2, 2;\n" + load_at_r2) == at_r2);
    CHECK(in_kernel("vote.sync.ballot.b32 %r2, %p1, -1;\n" + load_at_r2) == nothing);
    CHECK(in_kernel("setp.lt.u32 %p1, %w, 7;\nvote.sync.ballot.b32 %r2, %p1, -1;\n" + load_at_r2) == at_r2);
    CHECK(in_kernel("atom.global.add.u32 %r2, [%a], 1;\n" + load_at_r2) == at_r2);
    CHECK(in_kernel("mov.u32 %r2, %clock;\n" + load_at_r2) == at_r2);
    CHECK(in_kernel("mov.u32 %r2, %smid;\n" + load_at_r2) == at_r2);
    CHECK(in_kernel("mov.u32 %r2, %laneid;\n" + load_at_r2) == nothing);
    CHECK(in_kernel("activemask.b32 %r2;\n" + load_at_r2) == at_r2);
    CHECK(in_kernel("mul.wide.u32 %d2, %w, 4;\nadd.s64 %d2, %a, %d2;\nst.global.u32 [%d2], %t;\n") ==
          Found{On::address, "st.global.u32 [%d2], %t;"});
    CHECK(in_kernel("shl.b32 %r2, %w, 2;\natom.shared.add.u32 %r3, [%r2], 1;\n") ==
          Found{On::address, "atom.shared.add.u32 %r3, [%r2], 1;"});
    CHECK(in_kernel("setp.lt.u32 %p1, %w, 7;\n@%p1 st.global.u32 [%d1], %t;\n") ==
          Found{On::address, "@%p1 st.global.u32 [%d1], %t;"});
}

TEST_CASE("values in shared and local memory are data if some of what is stored there is") {
    const std::string back = "ld.shared.u32 %r2, [%s];\n" + load_at_r2;
    CHECK(in_kernel("st.shared.u32 [%s], %t;\n" + back) == nothing);
    CHECK(in_kernel("st.shared.u32 [%s], %w;\n" + back) == at_r2);
    CHECK(in_kernel("cp.async.ca.shared.global [%s], [%d1], 4;\ncp.async.wait_all;\n" + back) == at_r2);
    CHECK(in_kernel("atom.shared.add.u32 %r3, [%s], 1;\n" + back) == at_r2);
    CHECK(in_kernel("cvt.u64.u32 %d3, %s;\ncvta.shared.u64 %d3, %d3;\nst.u32 [%d3], %w;\n" + back) == at_r2);
    const std::string matrix = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%s];\n" + load_at_r2;
    CHECK(in_kernel("st.shared.u32 [%s], %t;\n" + matrix) == nothing);
    CHECK(in_kernel("st.shared.u32 [%s], %w;\n" + matrix) == at_r2);
    const std::string kept = "ld.local.u32 %r2, [kept];\n" + load_at_r2;
    CHECK(in_kernel("st.local.u32 [kept], %t;\n" + kept) == nothing);
    CHECK(in_kernel("st.local.u32 [kept], %w;\n" + kept) == at_r2);
    CHECK(in_kernel("st.shared.u32 [%s], %w;\nst.local.u32 [kept], %t;\n" + kept) == nothing);
    CHECK(in_kernel("st.local.u32 [kept], %w;\nst.shared.u32 [%s], %t;\n" + back) == nothing);
    // What a later store makes data of was data in the turn before.
    CHECK(in_kernel("mov.u32 %r4, 0;\nTOP:\n" + back + "st.shared.u32 [%s], %w;\nadd.u32 %r4, %r4, 1;\n" +
                    "setp.lt.u32 %p1, %r4, %n;\n@%p1 bra TOP;\n") == at_r2);
}

TEST_CASE("a branch that data decide is harmless with nothing but arithmetic behind it") {
    const std::string decide = "mov.u32 %r5, %n;\nsetp.lt.u32 %p1, %w, 7;\n@%p1 bra BEHIND;\n", behind = "BEHIND:\n";
    const Found decided{On::branch, "@%p1 bra BEHIND;"};
    CHECK(in_kernel(decide + "mul.lo.u32 %r5, %w, %w;\n" + behind + store_word) == nothing);
    CHECK(in_kernel(decide + "st.global.u32 [%d1], %n;\n" + behind + store_word) == decided);
    CHECK(in_kernel(decide + "ld.shared.u32 %r5, [%s];\n" + behind + store_word) == decided);
    CHECK(in_kernel(decide + "bar.sync 0;\n" + behind + store_word) == decided);
    CHECK(in_kernel(decide + "shfl.sync.idx.b32 %r5, %t, 0, 31, -1;\n" + behind + store_word) == decided);
    CHECK(in_kernel(decide + "ret;\n" + behind + store_word) == decided);
    // What it computes has come from data.
    CHECK(in_kernel(decide + "mov.u32 %r5, 3;\n" + behind + "mov.u32 %r2, %r5;\n" + load_at_r2) == at_r2);
    // A jump through a table.
    CHECK(in_kernel("ways: .branchtargets ONE, TWO;\nand.b32 %r2, %w, 1;\nbrx.idx %r2, ways;\n"
                    "ONE:\nst.global.u32 [%d1], %n;\nTWO:\n") == Found{On::branch, "brx.idx %r2, ways;"});
    // The same where the thread decides.
    CHECK(in_kernel("setp.lt.u32 %p1, %t, %n;\n@%p1 bra BEHIND;\nst.global.u32 [%d1], %n;\n" + behind) == nothing);
}

TEST_CASE("a loop of as many turns as data say, and an exit that they decide") {
    CHECK(in_kernel("mov.u32 %r4, 0;\nTOP:\nld.shared.u32 %r5, [%s];\nadd.u32 %r4, %r4, 1;\n"
                    "setp.lt.u32 %p1, %r4, %w;\n@%p1 bra TOP;\n") == Found{On::branch, "@%p1 bra TOP;"});
    CHECK(in_kernel("mov.u32 %r4, 0;\nTOP:\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %w;\n@%p1 bra TOP;\n"
                    "mov.u32 %r5, %r4;\n" +
                    store_word) == nothing);
    CHECK(in_kernel("setp.lt.u32 %p1, %w, 7;\n@%p1 ret;\n" + store_word) == Found{On::branch, "@%p1 ret;"});
}

TEST_CASE("fences, volatile accesses and calls leave it open") {
    CHECK(in_kernel("membar.gl;\n" + store_word) == Found{On::order, "membar.gl;"});
    CHECK(in_kernel("ld.volatile.global.u32 %r5, [%d1];\n") == Found{On::order, "ld.volatile.global.u32 %r5, [%d1];"});
    CHECK(in_kernel("st.release.gpu.global.u32 [%d1], %t;\n") ==
          Found{On::order, "st.release.gpu.global.u32 [%d1], %t;"});
    CHECK(in_kernel("vote.sync.any.pred %p1, %p2, -1;\n") == nothing);
    CHECK(in_kernel("{\n.param .b64 q;\nst.param.b64 [q], %d1;\ncall vprintf, (q);\n}\n") ==
          Found{On::calls, "call vprintf, (q);"});
}

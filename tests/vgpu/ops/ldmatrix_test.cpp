// ldmatrix, stmatrix and movmatrix: 8 by 8 matrices of halves with rows anywhere in shared memory.
#include <numeric>

#include "support/contains.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using vgpu::test::message_of;
using u16 = std::uint16_t;
using u32 = std::uint32_t;

namespace {

constexpr u32 shared_halves = 2048;

// The kernel copies `in` to shared memory with 32 threads, runs `body` and copies shared memory to `out`. For the body:
// %s is the address of shared memory, %lane the lane, %in and %out are global addresses, %r0 to %r3 are zero.
std::string kernel(const std::string& body) {
    return ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n"
           ".shared .align 16 .b8 memory[4096];\n.local .align 16 .b8 own[16];\n.reg .b64 %in, %out, %g, %l;\n"
           ".reg .b32 %s, %t, %i, %w, %lane, %a;\n.reg .b32 %r<4>;\n.reg .pred %p;\n"
           "ld.param.u64 %in, [p0];\nld.param.u64 %out, [p1];\nmov.u32 %lane, %tid.x;\nmov.u32 %s, memory;\n"
           "mov.u32 %r0, 0;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\nmov.u32 %i, %lane;\n"
           "IN: mad.wide.u32 %g, %i, 4, %in;\nld.global.u32 %w, [%g];\nmad.lo.u32 %t, %i, 4, %s;\nst.shared.u32 [%t], "
           "%w;\nadd.u32 %i, %i, 32;\nsetp.lt.u32 %p, %i, 1024;\n@%p bra IN;\nbar.sync 0;\n" +
           body +
           "\nbar.sync 0;\nmov.u32 %i, %lane;\nOUT: mad.wide.u32 %g, %i, 4, %out;\nmad.lo.u32 %t, %i, 4, %s;\n"
           "ld.shared.u32 %w, [%t];\nst.global.u32 [%g], %w;\nadd.u32 %i, %i, 32;\nsetp.lt.u32 %p, %i, 1024;\n"
           "@%p bra OUT;\nret;\n}\n";
}

struct Result {
    std::vector<u16> shared;
    device::Counters counters;
};

// Halves of shared memory initially hold their own indices.
Result run(const std::string& body, u32 threads = 32) {
    Machine m(1, kernel(body));
    std::vector<u16> halves(shared_halves);
    std::iota(halves.begin(), halves.end(), u16{0});
    const auto in = m.upload(halves), out = m.upload(halves);
    const auto record = m.launch("k", {1}, {threads}, in, out);
    return {m.download(out), record.counters};
}

// Stores each lane's registers at the start of shared memory, lane by lane.
std::string keep(unsigned registers) {
    std::string text = "bar.sync 0;\nmad.lo.u32 %t, %lane, " + std::to_string(4 * registers) + ", %s;\n";
    for (unsigned r = 0; r < registers; ++r)
        text += "st.shared.u32 [%t+" + std::to_string(4 * r) + "], %r" + std::to_string(r) + ";\n";
    return text;
}

// Row r of matrix i begins after 8i + r strides.
std::string rows(unsigned stride) { return "mad.lo.u32 %a, %lane, " + std::to_string(stride) + ", %s;\n"; }

u32 shared_load_wavefronts(const std::string& body) {
    const auto with = run(body).counters, without = run("").counters;
    CHECK(with.shared_load_requests - without.shared_load_requests == 1);
    return static_cast<u32>(with.shared_load_wavefronts - without.shared_load_wavefronts);
}

}  // namespace

TEST_CASE("ldmatrix gives each lane two neighbours of a row, or of a column") {
    for (const unsigned n : {1u, 2u, 4u})
        for (const bool transposed : {false, true}) {
            CAPTURE(n, transposed);
            constexpr unsigned stride = 48;  // bytes
            std::string list;
            for (unsigned r = 0; r < n; ++r) list += (r ? ", %r" : "%r") + std::to_string(r);
            const std::string load = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(n) + (transposed ? ".trans" : "") +
                                     ".shared.b16 {" + list + "}, [%a+16];\n";
            const auto halves = run(rows(stride) + load + keep(n)).shared;
            int wrong = 0;
            for (unsigned lane = 0; lane < 32; ++lane)
                for (unsigned i = 0; i < n; ++i)
                    for (unsigned half = 0; half < 2; ++half) {
                        const unsigned at = lane / 4, other = lane % 4 * 2 + half;
                        const unsigned row = transposed ? other : at, column = transposed ? at : other;
                        const unsigned expected = ((8 * i + row) * stride + 16) / 2 + column;
                        wrong += halves[(lane * n + i) * 2 + half] != expected;
                    }
            CHECK(wrong == 0);
        }
}

TEST_CASE("ldmatrix through a generic address, and one register without braces") {
    const auto halves = run("cvta.shared.u64 %l, memory;\nmad.wide.u32 %l, %lane, 16, %l;\n"
                            "ldmatrix.sync.aligned.m8n8.x1.b16 %r0, [%l];\n" +
                            keep(1))
                            .shared;
    CHECK(std::vector<u16>(halves.begin(), halves.begin() + 4) == std::vector<u16>{0, 1, 2, 3});
}

TEST_CASE("stmatrix is the inverse of ldmatrix, movmatrix transposes") {
    const std::string load = rows(16) +
                             "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a];\n"
                             "bar.warp.sync -1;\n",
                      store = "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%a], {%r0, %r1, %r2, %r3};\n",
                      elsewhere = "mad.lo.u32 %a, %lane, 32, %s;\n";
    const auto copied = run(load + elsewhere + store).shared;
    int wrong = 0;
    for (unsigned row = 0; row < 32; ++row)
        for (unsigned column = 0; column < 8; ++column) wrong += copied[row * 16 + column] != row * 8 + column;
    CHECK(wrong == 0);
    CHECK(copied[8] == 8);  // nothing was written between the rows

    const std::string mov = "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r0;\n";
    const auto transposed = run(load + "stmatrix.sync.aligned.m8n8.trans.x1.shared.b16 [%a], {%r0};\n").shared;
    const auto moved = run(load + mov + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%a], {%r0};\n").shared;
    for (unsigned row = 0; row < 8; ++row)
        for (unsigned column = 0; column < 8; ++column) wrong += transposed[row * 8 + column] != column * 8 + row;
    CHECK(wrong == 0);
    CHECK(moved == transposed);
}

TEST_CASE("ldmatrix is one request, with bank conflicts among the eight rows of a matrix") {
    const auto load = [](unsigned stride) {
        return rows(stride) + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a];\n";
    };
    CHECK(shared_load_wavefronts(load(16)) == 4);
    CHECK(shared_load_wavefronts(load(48)) == 4);  // 12 words: all banks once
    CHECK(shared_load_wavefronts(load(32)) == 8);
    CHECK(shared_load_wavefronts(load(64)) == 16);
    CHECK(shared_load_wavefronts(load(128)) == 32);
}

TEST_CASE("faults of ldmatrix are located") {
    const auto fault = [](const std::string& body, int code, u32 threads = 32) {
        return message_of([&] { run(body, threads); }, code);
    };
    const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a];\n";
    CHECK_THAT(fault(rows(17) + load, device::error::misaligned_address), Contains("not a multiple of 16"));
    CHECK_THAT(fault(rows(160) + load, device::error::illegal_address),
               Contains("reads 16 bytes") && Contains("past the end of"));
    CHECK_THAT(fault(rows(16) + load, device::error::illegal_instruction, 24), Contains("mask 0x00ffffff"));
    CHECK_THAT(fault("mov.u64 %l, own;\ncvta.local.u64 %l, %l;\nldmatrix.sync.aligned.m8n8.x1.b16 %r0, [%l];\n",
                     device::error::illegal_address),
               Contains("shared memory only"));
    for (const char* hostile :
         {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2}, [%a];",
          "ldmatrix.sync.aligned.m8n8.shared.b16 {%r0}, [%a];",
          "ldmatrix.sync.aligned.m8n8.x1.x2.shared.b16 {%r0}, [%a];",
          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, %a;", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%l}, [%a];",
          "ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%a];",
          "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%a], {%r0, %r1, %r2};",
          "movmatrix.sync.aligned.m8n8.trans.b16 %r0;",
          "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%a];"}) {
        CAPTURE(hostile);
        CHECK_THAT(fault(hostile, device::error::invalid_ptx), Contains("PTX line"));
    }
}

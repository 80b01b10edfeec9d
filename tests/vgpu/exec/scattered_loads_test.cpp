// Loads with which each lane asks for a sector of its own: their time depends on what they touch, not on the array.
#include "judge/catch.hpp"
#include "support/approx.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

// Each thread loads 16 words at random indices below `words`, a power of two.
const std::string gather =
    ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry gather(.param .u64 a, .param .u32 words)\n{\n"
    ".reg .b64 %d<5>;\n.reg .b32 %r<12>;\n.reg .pred %p;\nld.param.u64 %d1, [a];\nld.param.u32 %r1, [words];\n"
    "sub.u32 %r1, %r1, 1;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r5, %r2, %r3, %r4;\nmul.lo.u32 %r5, %r5, 1640531535;\nmov.u32 %r6, 0;\nmov.u32 %r9, 0;\n"
    "L: mad.lo.u32 %r5, %r5, 1664525, 1013904223;\nshr.u32 %r7, %r5, 8;\nand.b32 %r10, %r7, %r1;\n"
    "mul.wide.u32 %d2, %r10, 4;\nadd.s64 %d3, %d1, %d2;\nld.global.u32 %r8, [%d3];\nadd.u32 %r9, %r9, %r8;\n"
    "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p, %r6, 16;\n@%p bra L;\nst.global.u32 [%d1], %r9;\nret;\n}\n";

// Each thread goes through 64 indices of its own, one after the other, and loads what they say.
const std::string through_indices =
    ".visible .entry through(.param .u64 indices, .param .u64 a)\n{\n.reg .b64 %d<9>;\n.reg .b32 %r<12>;\n"
    ".reg .pred %p;\nld.param.u64 %d1, [indices];\nld.param.u64 %d2, [a];\nmov.u32 %r1, %ctaid.x;\n"
    "mov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.u32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %d3, %r4, 256;\n"
    "add.s64 %d4, %d1, %d3;\nmov.u32 %r5, 0;\nmov.u32 %r6, 0;\n"
    "L: ld.global.u32 %r7, [%d4];\nmul.wide.u32 %d5, %r7, 4;\nadd.s64 %d6, %d2, %d5;\nld.global.u32 %r8, [%d6];\n"
    "add.u32 %r6, %r6, %r8;\nadd.s64 %d4, %d4, 4;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p, %r5, 64;\n@%p bra L;\n"
    "st.global.u32 [%d2], %r6;\nret;\n}\n";

}  // namespace

TEST_CASE("random loads take the time of what they touch, however large the array is") {
    Machine m(1, gather, 200'000'000, "h100:4");
    m.may_be_wrong = true;  // all threads write one word
    const auto array = m.upload(std::vector<std::uint32_t>(1 << 23));
    const auto small = m.upload(std::vector<std::uint32_t>(1 << 12));
    const auto ns = [&](const auto& memory, std::uint32_t words) {
        return m.launch("gather", {32}, {256}, memory, words).duration_ns;
    };
    const double few = ns(array, 1 << 12), many = ns(array, 1 << 23);
    CAPTURE(few, many);
    CHECK(few == Approx(ns(small, 1 << 12)).epsilon(0.01));
    CHECK(many > 2.5 * few);
}

TEST_CASE("random loads come from L2, whichever block has read the sector before") {
    Machine m(1, gather, 200'000'000, "h100:4");
    m.may_be_wrong = true;
    const auto array = m.upload(std::vector<std::uint32_t>(1 << 18));
    const double ns = m.launch("gather", {128}, {256}, array, 1u << 18).duration_ns;
    CHECK(ns > 0.9 * 128 * 256 * 16 * 32 / m.gpu->properties().l2_bytes_per_ns);
}

TEST_CASE("indices that lie side by side load as an array does, random ones do not") {
    Machine m(1, gather + through_indices, 200'000'000, "h100:4");
    m.may_be_wrong = true;
    constexpr std::uint32_t count = 32 * 256 * 64;
    std::vector<std::uint32_t> ordered(count), mixed(count);
    for (std::uint32_t i = 0; i < count; ++i) ordered[i] = i, mixed[i] = i * 2654435761u % count;
    const auto array = m.upload(std::vector<std::uint32_t>(count));
    const double side_by_side = m.launch("through", {32}, {256}, m.upload(ordered), array).duration_ns;
    const double anywhere = m.launch("through", {32}, {256}, m.upload(mixed), array).duration_ns;
    CAPTURE(side_by_side, anywhere);
    CHECK(anywhere > 1.02 * side_by_side);  // L1 takes most of both: side by side, all lanes are in one bank
}

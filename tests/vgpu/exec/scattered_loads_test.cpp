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

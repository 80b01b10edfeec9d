// What a thread is told of its place: special registers, in blocks and grids of three dimensions.
#include <functional>

#include "judge/catch.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using u32 = std::uint32_t;

namespace {

constexpr device::Dim3 grid{2, 3, 4}, block{5, 4, 3};
constexpr u32 threads = 60, blocks = 24;

// The register in every thread, block by block.
std::vector<u32> read(const std::string& name) {
    Machine m(1, R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<12>;
    .reg .b64 %d<3>;
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
    mad.lo.u32 %r2, %r3, 4, %r2;
    mad.lo.u32 %r1, %r2, 5, %r1;
    mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;
    mad.lo.u32 %r5, %r6, 3, %r5;
    mad.lo.u32 %r4, %r5, 2, %r4;
    mad.lo.u32 %r1, %r4, 60, %r1;
    mov.u32 %r7, )" + name +
                     R"(;
    ld.param.u64 %d1, [out];
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r7;
    ret;
})");
    const auto out = m.upload(std::vector<u32>(threads * blocks));
    m.launch_shared("k", grid, block, 48, out);
    return m.download(out);
}

}  // namespace

TEST_CASE("special registers say where a thread is") {
    struct Row {
        const char* name;
        std::function<u32(u32 thread, u32 block)> value;
    };
    const Row rows[] = {
        {"%tid.x", [](u32 t, u32) { return t % 5; }},
        {"%tid.y", [](u32 t, u32) { return t / 5 % 4; }},
        {"%tid.z", [](u32 t, u32) { return t / 20; }},
        {"%ntid.x", [](u32, u32) { return 5; }},
        {"%ntid.y", [](u32, u32) { return 4; }},
        {"%ntid.z", [](u32, u32) { return 3; }},
        {"%ctaid.x", [](u32, u32 b) { return b % 2; }},
        {"%ctaid.y", [](u32, u32 b) { return b / 2 % 3; }},
        {"%ctaid.z", [](u32, u32 b) { return b / 6; }},
        {"%nctaid.x", [](u32, u32) { return 2; }},
        {"%nctaid.y", [](u32, u32) { return 3; }},
        {"%nctaid.z", [](u32, u32) { return 4; }},
        {"%laneid", [](u32 t, u32) { return t % 32; }},
        {"%warpid", [](u32 t, u32) { return t / 32; }},
        {"%nwarpid", [](u32, u32) { return 2; }},
        {"%lanemask_eq", [](u32 t, u32) { return 1u << t % 32; }},
        {"%lanemask_lt", [](u32 t, u32) { return (1u << t % 32) - 1; }},
        {"%lanemask_le", [](u32 t, u32) { return static_cast<u32>((2ULL << t % 32) - 1); }},
        {"%lanemask_gt", [](u32 t, u32) { return ~static_cast<u32>((2ULL << t % 32) - 1); }},
        {"%lanemask_ge", [](u32 t, u32) { return ~((1u << t % 32) - 1); }},
        {"%dynamic_smem_size", [](u32, u32) { return 48; }},
    };
    for (const Row& row : rows) {
        CAPTURE(row.name);
        std::vector<u32> expected;
        for (u32 b = 0; b < blocks; ++b)
            for (u32 t = 0; t < threads; ++t) expected.push_back(row.value(t, b));
        CHECK(read(row.name) == expected);
    }
}

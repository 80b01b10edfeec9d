// The busiest multiprocessor and the longest warp determine modelled time.
#include "judge/catch.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

// Every `period`th block (a power of two) computes, or works in shared memory, `rounds` times; the others end at once.
constexpr const char* kernels = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry computes(.param .u32 period, .param .u32 rounds) {
    .reg .b32 %b, %p, %r, %i;
    .reg .f32 %x;
    .reg .pred %idle, %more;
    ld.param.u32 %p, [period];
    ld.param.u32 %r, [rounds];
    mov.u32 %b, %ctaid.x;
    sub.u32 %p, %p, 1;
    and.b32 %b, %b, %p;
    setp.ne.u32 %idle, %b, 0;
    @%idle bra done;
    mov.u32 %i, 0;
    mov.f32 %x, 0f3F800000;
again:
    fma.rn.f32 %x, %x, %x, %x;
    fma.rn.f32 %x, %x, %x, %x;
    fma.rn.f32 %x, %x, %x, %x;
    add.u32 %i, %i, 1;
    setp.lt.u32 %more, %i, %r;
    @%more bra again;
done:
    ret;
}
.visible .entry shares(.param .u32 period, .param .u32 rounds) {
    .shared .align 4 .b8 words[4096];
    .reg .b32 %b, %p, %r, %i, %a, %v;
    .reg .pred %idle, %more;
    ld.param.u32 %p, [period];
    ld.param.u32 %r, [rounds];
    mov.u32 %b, %ctaid.x;
    sub.u32 %p, %p, 1;
    and.b32 %b, %b, %p;
    setp.ne.u32 %idle, %b, 0;
    @%idle bra done;
    mov.u32 %i, 0;
    mov.u32 %a, words;
    mov.u32 %b, %tid.x;
    and.b32 %b, %b, 31;
    mad.lo.u32 %a, %b, 128, %a;
    mov.u32 %v, 7;
    st.shared.u32 [%a], %v;
again:
    ld.shared.u32 %v, [%a];
    add.u32 %i, %i, 1;
    setp.lt.u32 %more, %i, %r;
    @%more bra again;
done:
    ret;
}
.visible .entry divides(.param .u32 period, .param .u32 rounds) {
    .reg .b32 %b, %p, %r, %i;
    .reg .f32 %x;
    .reg .pred %cheap, %more;
    ld.param.u32 %p, [period];
    ld.param.u32 %r, [rounds];
    mov.u32 %b, %ctaid.x;
    sub.u32 %p, %p, 1;
    and.b32 %b, %b, %p;
    setp.ne.u32 %cheap, %b, 0;
    mov.u32 %i, 0;
    mov.f32 %x, 0f3F800000;
    @%cheap bra multiply;
divide:
    div.rn.f32 %x, %x, %x;
    add.u32 %i, %i, 1;
    setp.lt.u32 %more, %i, %r;
    @%more bra divide;
    bra done;
multiply:
    mul.rn.f32 %x, %x, %x;
    add.u32 %i, %i, 1;
    setp.lt.u32 %more, %i, %r;
    @%more bra multiply;
done:
    ret;
})";

struct Times {
    double crowd_ns, alone_ns, even_ns;
};

Times times(const char* kernel, unsigned threads) {
    constexpr device::Checks none{false, false, false, false};
    Machine m(threads, kernels, 200'000'000, "h100:4", none);
    const auto time = [&](std::uint32_t blocks, std::uint32_t period, std::uint32_t rounds) {
        return m.launch(kernel, {blocks}, {256}, period, rounds).duration_ns;
    };
    return {time(512, 512, 2048), time(1, 1, 2048), time(512, 1, 4)};
}

}  // namespace

TEST_CASE("a crowd of idle blocks does not make the one faster that does all") {
    for (const char* kernel : {"computes", "shares"}) {
        CAPTURE(kernel);
        const Times t = times(kernel, 1);
        CHECK(t.crowd_ns > 0.95 * t.alone_ns);
        CHECK(t.crowd_ns < 1.5 * t.alone_ns);
        CHECK(3 * t.even_ns < t.crowd_ns);
    }
}

TEST_CASE("a block whose instructions are expensive has more to do than others with as many") {
    Machine m(1, kernels, 200'000'000, "h100:4", {false, false, false, false});
    const auto time = [&](std::uint32_t blocks) { return m.launch("divides", {blocks}, {256}, 4, 2048).duration_ns; };
    CHECK(time(4) > 0.7 * time(1));  // the longest warp is found by what it issues, not by what it waits for
    CHECK(time(4) < 1.5 * time(1));
}

TEST_CASE("which block is longest does not depend on the number of host threads") {
    for (const char* kernel : {"computes", "shares"}) {
        CAPTURE(kernel);
        const Times serial = times(kernel, 1);
        for (const unsigned threads : {2u, 3u, 8u}) {
            const Times t = times(kernel, threads);
            CHECK(t.crowd_ns == serial.crowd_ns);
            CHECK(t.even_ns == serial.even_ns);
        }
    }
}

// Constant memory delivers one word at a time: a request for several different words takes as many passes.
#include "support/contains.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

// Each thread loads an element of `bytes` at the offsets (thread & mask) · stride, in three rounds.
device::Counters load(const std::string& type, std::uint32_t stride, std::uint32_t mask, std::uint32_t threads = 32) {
    const std::string wide = type == "u64" ? "b64" : type == "u8" ? "b16" : "b32";
    Machine m(1, R"(
.version 8.0
.target sm_90
.address_size 64
.const .align 16 .b8 table[8192] = {1};
.visible .entry look(.param .u32 stride, .param .u32 mask) {
    .reg .b32 %i, %s, %m, %r;
    .reg .b64 %a, %o;
    .reg .)" + wide + R"( %v;
    .reg .pred %p;
    ld.param.u32 %s, [stride];
    ld.param.u32 %m, [mask];
    mov.u32 %i, %tid.x;
    and.b32 %i, %i, %m;
    mul.lo.u32 %i, %i, %s;
    mov.u32 %r, 0;
    mov.u64 %a, table;
    cvt.u64.u32 %o, %i;
    add.u64 %a, %a, %o;
again:
    ld.const.)" + type +
                     R"( %v, [%a];
    add.u64 %a, %a, 16;
    add.u32 %r, %r, 1;
    setp.lt.u32 %p, %r, 3;
    @%p bra again;
    ret;
})");
    return m.launch("look", {1}, {threads}, stride, mask).counters;
}

}  // namespace

TEST_CASE("a constant that all lanes read is one pass, different ones are one each") {
    const auto passes = [](const device::Counters& c) {
        CHECK(c.constant_load_requests == 3);
        CHECK(c.global_load_requests == 0);
        return c.constant_load_wavefronts;
    };
    CHECK(passes(load("u32", 0, 31)) == 3 * 1);
    CHECK(passes(load("u32", 4, 31)) == 3 * 32);
    CHECK(passes(load("u32", 128, 31)) == 3 * 32);
    CHECK(passes(load("u32", 4, 7)) == 3 * 8);  // eight words, each for four lanes
    CHECK(passes(load("u32", 4, 31, 11)) == 3 * 11);
    CHECK(passes(load("u64", 8, 31)) == 3 * 32);
    CHECK(passes(load("u8", 1, 31)) == 3 * 8);  // four bytes of each word
    CHECK(passes(load("u8", 4, 31)) == 3 * 32);
    CHECK(load("u32", 4, 31, 64).constant_load_wavefronts == 2 * 3 * 32);
}

TEST_CASE("parameters of a kernel are no constant loads") {
    Machine m(1, R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u32 a, .param .u32 b) {
    .reg .b32 %a, %b;
    ld.param.u32 %a, [a];
    ld.param.u32 %b, [b];
    add.u32 %a, %a, %b;
    ret;
})");
    const auto counters = m.launch("add", {1}, {32}, 1, 2).counters;
    CHECK(counters.constant_load_requests == 0);
    CHECK(counters.constant_load_wavefronts == 0);
}

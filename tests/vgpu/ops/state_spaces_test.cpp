// Parameters, local memory and null pages, at addresses in registers.
#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;

TEST_CASE("kernel parameters at addresses in registers: read only, up to the last byte") {
    const auto run = [](const std::string& load) {
        vgpu::test::Snippet s(load + "\nst.global.u32 [%pb], %r1;");
        s.diagnose({1}, {1});
        return s.result()[0];
    };
    vgpu::test::Snippet s("");
    const auto low = [](std::uint64_t address) { return static_cast<std::uint32_t>(address); };
    CHECK(run("mov.u64 %l1, a;\nld.param.u32 %r1, [%l1];") == low(s.a.address));
    CHECK(run("mov.u64 %l1, b;\nld.param.u32 %r1, [%l1+4];") == low(s.b.address >> 32));
    CHECK(run("mov.u64 %l1, a;\ncvta.param.u64 %l1, %l1;\nld.u32 %r1, [%l1+8];") == low(s.b.address));
    const auto message = [&](const std::string& lines) {
        vgpu::test::Snippet wrong(lines);
        return vgpu::test::message_of([&] { wrong.machine.launch("k", {1}, {1}, wrong.a, wrong.b); },
                                      device::error::illegal_address);
    };
    CHECK_THAT(message("mov.u64 %l1, a;\nld.param.u32 %r1, [%l1+16];"),
               Contains("reads 4 bytes outside the kernel's parameters"));
    CHECK_THAT(message("mov.u64 %l1, a;\ncvta.param.u64 %l1, %l1;\nld.u32 %r1, [%l1+16];"),
               Contains("reads 4 bytes outside the kernel's parameters"));
    CHECK_THAT(message("mov.u64 %l1, a;\ncvta.param.u64 %l1, %l1;\nst.u32 [%l1], 1;\nmov.u32 %r1, 0;"),
               Contains("writes 4 bytes of the kernel's parameters ["));
    CHECK_THAT(message("mov.u64 %l1, a;\ncvta.param.u64 %l1, %l1;\natom.add.u32 %r1, [%l1], 1;"),
               Contains("updates 4 bytes of the kernel's parameters ["));
}

TEST_CASE("addresses in the first 64 KiB come from null pointers") {
    const auto message = [](const std::string& address) {
        vgpu::test::Snippet s("mov.u64 %l1, " + address + ";\nld.global.u8 %r1, [%l1];");
        return vgpu::test::message_of([&] { s.machine.launch("k", {1}, {1}, s.a, s.b); },
                                      device::error::illegal_address);
    };
    CHECK_THAT(message("65535"), Contains("null pointer"));
    CHECK_THAT(message("65536"), Contains("at 0x10000, which is host memory"));
}

TEST_CASE("atomics on local memory are each thread's own") {
    vgpu::test::Snippet s(
        "mov.u64 %l1, own;\ncvta.local.u64 %l1, %l1;\nst.u32 [%l1], %t;\n"
        "atom.add.u32 %r1, [%l1], 5;\nld.u32 %r2, [%l1];\nmad.lo.u32 %r1, %r2, 100, %r1;\n"
        "st.global.u32 [%pb], %r1;");
    s.diagnose({1}, {32});
    for (std::uint32_t t = 0; t < 32; ++t) CHECK(s.result()[t] == (t + 5) * 100 + t);
}

TEST_CASE("an mbarrier lies in shared memory, and nowhere else") {
    const auto message = [](const std::string& address) {
        vgpu::test::Snippet s(address + "\nmbarrier.arrive.b64 %l2, [%l1];");
        return vgpu::test::message_of([&] { s.machine.launch("k", {1}, {1}, s.a, s.b); },
                                      device::error::illegal_address);
    };
    CHECK_THAT(message("mov.u64 %l1, own;\ncvta.local.u64 %l1, %l1;"),
               Contains("updates 8 bytes of local memory, but an mbarrier lies in shared memory"));
    CHECK_THAT(message("mov.u64 %l1, %b;"), Contains("(cudaMalloc), but an mbarrier lies in shared memory"));
}

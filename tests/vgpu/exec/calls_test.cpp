// Function pointers, recursion and arguments of any size, with both of nvcc's front ends.
#include <functional>

#include "device/address_space.hpp"
#include "support/contains.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using vgpu::test::message_of;
using vgpu::test::read_text;

namespace {

std::vector<int> ramp(int n, int first = 0) {
    std::vector<int> v(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = first + i;
    return v;
}

// f(thread) for each thread.
template <class F>
std::vector<int> each(int n, F&& f) {
    auto v = ramp(n);
    for (int& i : v) i = f(i);
    return v;
}

Machine calls(const std::string& architecture) { return Machine(1, read_text(WG_TEST_CALLS "." + architecture)); }
int apply(int which, int a, int b) { return which == 0 ? a + b : which == 1 ? a - b : a * b; }

}  // namespace

TEST_CASE("functions are called through tables in global and constant memory") {
    for (const char* architecture : {"sm_80", "sm_100"}) {
        Machine m = calls(architecture);
        const auto d = m.upload(ramp(64, 3));
        m.launch("call_table", {1}, {64}, d);
        CHECK(m.download(d) == each(64, [](int t) { return apply(t % 3, t + 3, 7) + apply(1 + t % 2, t, 2); }));
        const auto some = m.upload(ramp(64));
        m.launch("call_by_some_lanes", {1}, {64}, some);
        CHECK(m.download(some) == each(64, [](int t) { return t % 4 == 1 ? apply(t % 3, t, 1) : t; }));
    }
}

TEST_CASE("function pointers are chosen in a kernel, kept in memory and passed as arguments") {
    for (const char* architecture : {"sm_80", "sm_100"}) {
        Machine m = calls(architecture);
        const auto d = m.upload(std::vector<int>(32, 9));
        m.launch("call_chosen_here", {1}, {32}, d, 1);
        CHECK(m.download(d)[5] == 14);
        m.launch("choose_function", {1}, {1});
        m.launch("call_chosen", {1}, {32}, d);
        CHECK(m.download(d) == each(32, [](int t) { return t * 3; }));
        std::uint64_t f = 0;
        m.gpu->read(m.gpu->find_symbol(m.module, "table").address + 8, std::as_writable_bytes(std::span(&f, 1)));
        CHECK(f >= device::address_space::code_base);
        m.launch("call_pointer", {1}, {32}, d, f);
        CHECK(m.download(d) == each(32, [](int t) { return t - 5; }));
    }
}

TEST_CASE("a pointer to no function is an error that says what it points to") {
    const auto message = [](std::uint64_t pointer) {
        Machine m = calls("sm_80");
        const auto d = m.upload(std::vector<int>(32));
        return message_of([&] { m.launch("call_pointer", {1}, {32}, d, pointer); }, device::error::invalid_pc);
    };
    CHECK_THAT(message(0), Contains("null pointer") && Contains("calls.cu:") && Contains("thread (0,0,0)"));
    CHECK_THAT(message(0x7ffe'0000'1234), Contains("host address") && Contains("0x7ffe00001234"));
    CHECK_THAT(message(device::address_space::code_base + 8),
               Contains("where no device function of this module begins"));
    Machine m = calls("sm_80");
    const auto d = m.upload(std::vector<int>(32));
    CHECK_THAT(message_of([&] { m.launch("call_wrong_type", {1}, {32}, d); }, device::error::invalid_pc),
               Contains("takes (4, 4) bytes and returns (4)") && Contains("the call passes (4)"));
}

TEST_CASE("virtual functions of objects of different classes in one warp") {
    for (const char* architecture : {"sm_80", "sm_100"}) {
        Machine m = calls(architecture);
        const auto d = m.upload(ramp(64));
        m.launch("call_virtual", {1}, {64}, d);
        CHECK(m.download(d) == each(64, [](int t) { return t % 3 ? t * t * 10 + 4 : 3 * t * t * 10; }));
    }
}

TEST_CASE("arguments and results of any size and alignment") {
    for (const char* architecture : {"sm_80", "sm_100"}) {
        Machine m = calls(architecture);
        const auto d = m.upload(ramp(332));
        m.launch("pass_large", {1}, {32}, d, 11);
        const auto v = m.download(d);
        for (int t = 0; t < 32; ++t)
            CHECK(v[static_cast<std::size_t>(300 + t)] == ((t * 7 + 11) % 300 + t) * 3 * (t % 2 ? t : 1));
        const auto out = m.upload(std::vector<double>(32));
        m.launch("pass_mixed", {1}, {32}, out);
        for (int t = 0; t < 32; ++t)
            CHECK(m.download(out)[static_cast<std::size_t>(t)] == (t + 3) * 1000 + 9.5 + t * 200);
    }
}

TEST_CASE("a struct parameter is indexed dynamically (trap 7)") {
    for (const char* architecture : {"sm_80", "sm_100"}) {
        Machine m = calls(architecture);
        const auto d = m.upload(std::vector<int>(32));
        const std::array<int, 8> p{5, 6, 7, 8, 9, 10, 11, 12};
        m.launch("index_parameter", {1}, {32}, p, d);
        CHECK(m.download(d) == each(32, [](int t) { return (5 + t % 8) * 100 + 5 + (t + 1) % 8; }));
    }
}

TEST_CASE("recursion keeps the local variables of each activation (trap 7)") {
    const std::function<int(int, int)> path = [&](int depth, int t) {
        const int here = depth * 10 + ((((depth ? t + depth : t) & 3) + t) & 3);
        return depth == 0 ? here : path(depth - 1, t + 1) + here;
    };
    const auto ackermann_2 = [](unsigned n) { return 2 * n + 3; };
    for (const char* architecture : {"sm_80", "sm_100"}) {
        Machine m = calls(architecture);
        const auto d = m.upload(std::vector<int>(64));
        m.launch("recurse_with_frames", {1}, {64}, d);
        CHECK(m.download(d) == each(64, [&](int t) { return path(t % 9, t); }));
        m.launch("recurse_mutually", {1}, {64}, d);
        CHECK(m.download(d) == each(64, [](int t) { return t % 2 == 0 ? 1 : 0; }));
        const auto u = m.upload(std::vector<unsigned>(8));
        m.launch("recurse_deeply", {1}, {8}, u);
        for (unsigned t = 0; t < 8; ++t) CHECK(m.download(u)[t] == ackermann_2(t) + (t == 5 ? 61 : 0));
    }
}

TEST_CASE("barriers and collectives with a guard run for the lanes whose predicate holds") {
    Machine m = calls("sm_80");
    const auto d = m.upload(std::vector<int>(64, 1));
    const auto c = m.launch("guarded_barrier", {1}, {64}, d).counters;
    CHECK(m.download(d) == each(64, [](int t) { return 63 - t; }));
    CHECK(c.barriers == 2);
    m.launch("guarded_shuffle", {1}, {32}, d);
    const auto v = m.download(d);
    for (int t = 0; t < 32; ++t) CHECK(v[static_cast<std::size_t>(t)] == (t < 16 ? t ^ 1 : t));
}

// Divergence, barriers, calls, turns: what runs, in which order, and what ends with a message.
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "support/contains.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/text/demangled_size.hpp"
#include "vgpu/text/words.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using vgpu::test::message_of;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<int> ramp(int n) {
    std::vector<int> v(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = i;
    return v;
}

}  // namespace

TEST_CASE("both sides of a branch run, then the lanes are together again") {
    Machine m;
    const auto d = m.upload(ramp(64));
    const auto c = m.launch("diverge", {1}, {32}, d).counters;
    const auto v = m.download(d);
    for (int t = 0; t < 32; ++t) CHECK(v[static_cast<std::size_t>(t)] == (t % 2 ? t * 3 : t + 32 + 5));
    CHECK(c.divergent_branches == 1);
    CHECK(c.global_store_requests == 1);  // one store for all 32 lanes: they met at the post-dominator
}

TEST_CASE("lanes leave a loop one by one and meet behind it") {
    Machine m;
    const auto d = m.upload(ramp(64));
    const auto c = m.launch("loop_by_lane", {1}, {32}, d).counters;
    CHECK(c.global_store_requests == 1);
    CHECK(c.divergent_branches >= 1);
    const auto v = m.download(d);
    for (int t = 0; t < 32; ++t) {
        int n = 0;
        for (int i = 0; i <= t; ++i) n += i ^ (i & 3);
        CHECK(v[static_cast<std::size_t>(32 + t)] == n);
    }
}

TEST_CASE("a switch sends each lane to its case") {
    Machine m;
    const auto d = m.upload(ramp(40));
    m.launch("choose", {1}, {32}, d, 1);
    const int cases[] = {11, 1 + 22, 2 * 33, 3 - 44, 4 ^ 55, 66};
    for (int t = 0; t < 32; ++t) CHECK(m.download(d)[static_cast<std::size_t>(8 + t)] == cases[(t + 1) % 6]);
}

TEST_CASE("functions call themselves, each lane to its own depth") {
    Machine m;
    const auto d = m.upload(std::vector<int>(32));
    m.launch("recurse", {1}, {32}, d);
    const int fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    for (int t = 0; t < 32; ++t) CHECK(m.download(d)[static_cast<std::size_t>(t)] == fibonacci[t % 12]);
    const auto text =
        message_of([&] { m.launch("recurse_for_ever", {1}, {32}, d); }, device::error::hardware_stack_error);
    CHECK(has(text, "overflows its stack"));
}

TEST_CASE("dynamic shared memory and the barrier reverse a block of any size") {
    Machine m;
    for (const int n : {1, 31, 32, 33, 64, 257, 1024}) {
        const auto d = m.upload(ramp(n));
        const auto record = m.launch_shared("reverse_dynamic", {1}, {static_cast<std::uint32_t>(n)},
                                            4 * static_cast<std::uint64_t>(n), d, n);
        CAPTURE(n);
        auto expected = ramp(n);
        std::reverse(expected.begin(), expected.end());
        CHECK(m.download(d) == expected);
        CHECK(record.counters.barriers == static_cast<std::uint64_t>((n + 31) / 32));
        CHECK(record.counters.warps_launched == static_cast<std::uint64_t>((n + 31) / 32));
        CHECK(record.config.dynamic_shared_bytes == 4 * static_cast<std::uint64_t>(n));
    }
}

TEST_CASE("a barrier counts and votes over the block") {
    Machine m;
    std::vector<int> in(96, -5);
    for (std::size_t i = 0; i < in.size(); i += 3) in[i] = 7;
    const auto a = m.upload(in), b = m.upload(std::vector<int>(96));
    m.launch("count_if", {1}, {96}, a, b);
    CHECK(m.download(b) == std::vector<int>(96, 32 * 4 + 2 + 0));
}

TEST_CASE("shuffles, votes and matches exchange values") {
    Machine m;
    std::vector<float> in(64);
    for (std::size_t i = 0; i < 64; ++i) in[i] = static_cast<float>(i);
    const auto a = m.upload(in), b = m.upload(std::vector<float>(2));
    m.launch("warp_sum", {1}, {64}, a, b);
    CHECK(m.download(b) == std::vector<float>{496, 496 + 1024});
    const auto ints = m.upload(ramp(32));
    const auto r = m.upload(std::vector<unsigned>(32));
    m.launch("votes", {1}, {32}, ints, r);
    for (unsigned t = 0; t < 32; ++t) CHECK(m.download(r)[t] == (0xaaaaaaaau ^ (1u << t) ^ (t ^ 5u)));
}

TEST_CASE("lanes of one warp that contend for a lock all get it (trap 5)") {
    Machine m;
    for (const char* kernel : {"spin_lock", "spin_lock_plain"}) {
        const auto lock = m.upload(std::vector<int>(1)), value = m.upload(std::vector<int>(1));
        m.launch(kernel, {3}, {64}, lock, value);
        CAPTURE(kernel);
        CHECK(m.download(value)[0] == 3 * 64);
    }
}

TEST_CASE("a block may wait for a later one while both are resident") {
    Machine m;
    const auto out = m.upload(std::vector<int>(2));
    m.launch("wait_for_later_block", {8}, {32}, out);
    CHECK(m.download(out)[0] == 42);
}

TEST_CASE("what never ends is stopped and says where") {
    Machine m(1, vgpu::test::read_text(WG_TEST_KERNELS), 2'000'000);
    const auto out = m.upload(std::vector<int>(2));
    for (const char* kernel : {"spin_for_ever", "loop_for_ever"}) {
        const auto text = message_of([&] { m.launch(kernel, {2}, {64}, out); }, device::error::launch_timeout);
        CAPTURE(text);
        CHECK(has(text, "is still in this loop after the kernel has executed 2,000,000 warp instructions"));
        CHECK(has(text, "kernels.cu:"));
    }
}

TEST_CASE("the budget holds for short blocks too, those that communicate included") {
    Machine m(1, vgpu::test::read_text(WG_TEST_KERNELS), 1000);
    const auto in = m.upload(std::vector<float>(25600)), out = m.upload(std::vector<float>(25600));
    for (const char* kernel : {"float_atomics", "copy"}) {
        const auto text =
            message_of([&] { m.launch(kernel, {100}, {256}, in, out, 25600); }, device::error::launch_timeout);
        CAPTURE(kernel);
        CHECK(has(text, "executed more than 1,000 warp instructions"));
    }
}

TEST_CASE("a deadlock is named") {
    Machine m;
    const auto out = m.upload(std::vector<int>(64));
    const auto text = message_of([&] { m.launch("warp_deadlock", {1}, {32}, out); }, device::error::launch_timeout);
    CHECK(has(text, "__syncwarp"));
}

TEST_CASE("printf writes each thread's text, assert ends the kernel") {
    Machine m;
    m.launch("say", {2}, {32}, 3);
    CHECK(m.gpu->take_output().text ==
          "block 0 thread 0:  4.50 text x 1099511627776 %\nblock 0 thread 1:  4.50 text x 1099511627776 %\n"
          "block 1 thread 0:  4.50 text x 1099511627776 %\nblock 1 thread 1:  4.50 text x 1099511627776 %\n");
    const auto in = m.upload(std::vector<int>{1, 2, -3, -4});
    const auto text = message_of([&] { m.launch("check_positive", {1}, {4}, in); }, device::error::assert_failed);
    CHECK_THAT(text, Contains("kernels.cu:") &&
                         Contains(": fails the assertion `in[threadIdx.x] > 0`; one more thread of its warp does the "
                                  "same [thread (2,0,0) of block (0,0,0)]"));
    Machine again;
    const auto more = again.upload(std::vector<int>{1, -2, -3, -4});
    CHECK_THAT(message_of([&] { again.launch("check_positive", {1}, {4}, more); }, device::error::assert_failed),
               Contains("; 2 more threads of its warp do the same [thread (1,0,0)"));
    const auto found = again.analysis->take_diagnostics();
    REQUIRE(found.size() == 1);
    CHECK(found[0].place.file.ends_with("kernels.cu"));
    CHECK((found[0].place.line > 0 && found[0].place.code == 0));
    Machine alone;
    const auto one = alone.upload(std::vector<int>{1, 2, 3, -4});
    CHECK_THAT(message_of([&] { alone.launch("check_positive", {1}, {4}, one); }, device::error::assert_failed),
               Contains("in[threadIdx.x] > 0` [thread (3,0,0)"));
}

TEST_CASE("launches beyond the device's limits are refused before they run") {
    Machine m;
    const auto out = m.upload(std::vector<int>(64));
    CHECK(has(message_of([&] { m.launch("copy", {1}, {1025}, out, out, 1); }, device::error::invalid_value), "1024"));
    CHECK(has(message_of([&] { m.launch("copy", {0}, {32}, out, out, 1); }, device::error::invalid_value),
              "the grid has 0 blocks in x"));
    CHECK(has(message_of(
                  [&] {
                      m.launch("copy", {1}, {1, 1, 65}, out, out, 1);
                  },
                  device::error::invalid_value),
              "the block has 65 threads in z, but the limit is 64"));
    CHECK(has(message_of([&] { m.launch_shared("reverse_dynamic", {1}, {32}, 1 << 20, out, 1); },
                         device::error::invalid_value),
              "shared memory"));
}

TEST_CASE("what is not supported is refused by name and line before it runs") {
    const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
    Machine m(1, head + ".visible .entry k() {\n.reg .b32 %r<3>;\nvmin4.u32.u32.u32 %r1, %r2, %r2, %r2;\nret;\n}\n");
    const auto text = message_of([&] { m.launch("k", {1}, {32}); }, device::error::not_supported);
    CHECK_THAT(text, Catch::Matchers::StartsWith("kernel 'k': PTX line 6: 'vmin4.u32.u32.u32") &&
                         Contains("video instructions"));
    CHECK(has(message_of([&] { m.launch("nowhere", {1}, {32}); }, device::error::invalid_device_function), "nowhere"));
}

TEST_CASE("what no PTX has is the program's mistake, not the device's lack") {
    const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<3>;\n";
    const auto [body, message] = GENERATE(table<const char*, const char*>({
        {"frobnicate.sync.b32 %r1, %r2;", "PTX line 6: 'frobnicate.sync.b32': PTX has no instruction"},
        {".local .b8 much[600000];", "local memory of 600000 bytes a thread is above the limit of 524288"},
        {".shared .b8 much[600000];", "shared variable 'much' of 600000 bytes does not fit"},
    }));
    Machine m(1, head + body + "\nret;\n}\n");
    const auto text = message_of([&] { m.launch("k", {1}, {32}); }, device::error::invalid_ptx);
    CHECK_THAT(text, Catch::Matchers::StartsWith("kernel 'k': ") && Contains(message));
}

TEST_CASE("counters are attributed to source lines") {
    Machine m;
    const auto in = m.upload(std::vector<int>(64)), out = m.upload(std::vector<int>(64));
    const auto record = m.launch("copy", {2}, {32}, in, out, 64);
    device::Counters sum;
    for (const auto& l : record.lines) {
        CHECK(has(l.file, "kernels.cu"));
        sum += l.counters;
    }
    CHECK(sum.global_load_sectors == record.counters.global_load_sectors);
    CHECK(sum.inst_executed == record.counters.inst_executed);
}

TEST_CASE("a kernel that waits for the kernels before it finds their results") {
    // Programmatic dependent launch, as CUB's kernels for sm_90 use it.
    Machine m(1, R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry next(.param .u64 p) {
    .reg .b32 %v;
    .reg .b64 %a;
    ld.param.u64 %a, [p];
    griddepcontrol.wait;
    ld.global.u32 %v, [%a];
    griddepcontrol.launch_dependents;
    add.u32 %v, %v, 1;
    st.global.u32 [%a], %v;
    ret;
})");
    const auto d = m.upload(std::vector<int>{40});
    m.launch("next", {1}, {1}, d);
    m.launch("next", {1}, {1}, d);
    CHECK(m.download(d)[0] == 42);
}

TEST_CASE("names are made readable, but not those that explode") {
    using vgpu::readable_name;
    CHECK(readable_name("k") == "k");
    CHECK(readable_name("_Z5tiledPKfS0_Pf") == "tiled");
    CHECK(readable_name("_Z5tiledILi16EfEvPKT0_PS0_") == "tiled<16, float>");
    CHECK(readable_name("_ZN12_GLOBAL__N_11kIJifdEEEvDpT_") == "(anonymous namespace)::k<int, float, double>");
    CHECK(readable_name("_ZN3lab4pipeINS_4sum2IiEESt4pairIiS2_EEEvT_T0_") ==
          "lab::pipe<lab::sum2<int>, std::pair<int, lab::sum2<int> > >");
    CHECK(readable_name("_Z5applyIZ4mainEUliE_EvT_i") == "apply<main::{lambda(int)#1}>");
    // A name of CUB's, with policies, iterators, operators and literals.
    const std::string cub =
        "_ZN3cub17CUB_200700_900_NS18DeviceReduceKernelINS0_18DeviceReducePolicyIfjN4cuda3std3__"
        "44plusIvEEE9Policy600EPfj"
        "S7_fNS5_10__identityEEEvT0_PT3_T1_NS0_13GridEvenShareISD_EET2_T4_";
    CHECK(vgpu::demangled_size(cub, 1 << 16) <= 1 << 16);
    CHECK_THAT(readable_name(cub), Catch::Matchers::StartsWith("cub::CUB_200700_900_NS::DeviceReduceKernel<cub::"));

    // Each parameter has twice the length of the one before: 200 bytes stand for gigabytes.
    constexpr char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string bomb = "_Z1k1AIvvE";
    for (int i = 0; i < 30; ++i) bomb += std::string("S_IS") + digits[i] + "_S" + digits[i] + "_E";
    CHECK(readable_name(bomb) == bomb);
    std::string packs = "_Z1kIJ";
    for (int i = 0; i < 500; ++i) packs += 'i';
    packs += "EEv";
    for (int i = 0; i < 200; ++i) packs += "DpT_";
    CHECK(readable_name(packs) == packs);
    const std::string deep = "_Z1k" + std::string(10'000, 'P') + "i",
                      long_name = "_Z30000" + std::string(30'000, 'n') + "v";
    CHECK(readable_name(deep) == deep);
    CHECK(readable_name(long_name) == long_name);
    for (const char* broken :
         {"_Z", "_ZN", "_Z1", "_Z9k", "_ZNE", "_Z1kI", "_Z1kIL", "_Z1kS", "_Z1kS9_", "_Z1kT", "_Z1kDp", "_ZZ", "_Z1kA"})
        CHECK(readable_name(broken) == broken);
}

// The predicted length must never be less than the real one.
TEST_CASE("the length of a readable name is never underestimated") {
    const std::string alphabet = "PRKNIEEJS_S0_S1_T_T0_1A2bbicfvLi3EFZDpStUlE_X";
    std::mt19937 random(7);
    std::size_t understood = 0;
    for (int i = 0; i < 200'000; ++i) {
        std::string name = "_Z1k";
        for (std::size_t k = random() % 24; k > 0; --k) {
            const std::size_t at = random() % alphabet.size();
            name += alphabet.substr(at, 1 + random() % 3);
        }
        const std::size_t size = vgpu::demangled_size(name, 1 << 20);
        if (size > 1 << 20) continue;
        int status = 0;
        const std::unique_ptr<char, decltype(&std::free)> text(
            abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
        if (!text) continue;
        ++understood;
        INFO(name << " is " << text.get());
        REQUIRE(std::strlen(text.get()) <= size);
    }
    CHECK(understood > 1000);
}

// The result of a launch is that of running its blocks one by one, for any number of host threads, with and without
// checks.
#include "support/contains.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

std::vector<float> noise(std::size_t n) {
    std::vector<float> v(n);
    std::uint32_t x = 12345;
    for (float& f : v) {
        x = x * 1664525u + 1013904223u;
        f = static_cast<float>(static_cast<std::int32_t>(x)) / 2147483648.0f;
    }
    return v;
}

// The effects of a launch with one host thread and with several, with and without checks.
struct Outcome {
    std::vector<float> floats;
    std::vector<int> ints;
    device::Counters counters;
    double duration_ns = 0;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

constexpr device::Checks no_checks{false, false, false, false};

Machine machine(unsigned threads, const device::Checks& checks, const char* kernels = WG_TEST_KERNELS) {
    return Machine(threads, vgpu::test::read_text(kernels), 200'000'000, "h100", checks);
}

template <class F>
void check_always_the_same(F&& run) {
    const Outcome serial = run(1u, device::Checks{});
    const auto check = [&](unsigned threads, const device::Checks& checks) {
        const bool checked = checks.race;
        CAPTURE(threads, checked);
        const Outcome o = run(threads, checks);
        CHECK(o.floats == serial.floats);
        CHECK(o.ints == serial.ints);
        CHECK(o.counters == serial.counters);
        CHECK(o.duration_ns == serial.duration_ns);
    };
    check(1, no_checks);
    for (const unsigned threads : {2u, 3u, 8u})
        for (int repeat = 0; repeat < 3; ++repeat) {
            check(threads, {});
            check(threads, no_checks);
        }
}

}  // namespace

TEST_CASE("independent blocks: matrix product") {
    check_always_the_same([](unsigned threads, const device::Checks& checks) {
        Machine m = machine(threads, checks, WG_BENCH_KERNELS);
        const auto a = m.upload(noise(64 * 64)), b = m.upload(noise(64 * 64)),
                   c = m.upload(std::vector<float>(64 * 64));
        const auto r = m.launch("matmul_tiled", {4, 4}, {16, 16}, a, b, c, 64);
        return Outcome{m.download(c), {}, r.counters, r.duration_ns};
    });
}

TEST_CASE("float atomics are summed in a fixed order") {
    check_always_the_same([](unsigned threads, const device::Checks& checks) {
        Machine m = machine(threads, checks);
        const auto in = m.upload(noise(10000)), out = m.upload(std::vector<float>(1));
        const auto r = m.launch("float_atomics", {40}, {256}, in, out, 10000);
        return Outcome{m.download(out), {}, r.counters, r.duration_ns};
    });
}

TEST_CASE("blocks that race for a word leave what the last block wrote") {
    check_always_the_same([](unsigned threads, const device::Checks& checks) {
        Machine m = machine(threads, checks);
        const auto out = m.upload(std::vector<int>(7));
        m.may_be_wrong = true;
        const auto r = m.launch("last_writer_wins", {500}, {64}, out);
        const auto v = m.download(out);
        CHECK(v[0] == 499 * 1000 + 63);
        return Outcome{{}, v, r.counters, r.duration_ns};
    });
}

TEST_CASE("in-place kernels run in parallel with the serial result") {
    check_always_the_same([](unsigned threads, const device::Checks& checks) {
        Machine m = machine(threads, checks);
        const auto d = m.upload(noise(50000));
        const auto r = m.launch("scale_in_place", {196}, {256}, d, 0.37f, 50000);
        return Outcome{m.download(d), {}, r.counters, r.duration_ns};
    });
}

TEST_CASE("blocks that read what others write give the serial result") {
    check_always_the_same([](unsigned threads, const device::Checks& checks) {
        Machine m = machine(threads, checks);
        std::vector<int> start(20000);
        for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<int>(i * 17);
        const auto d = m.upload(start);
        m.may_be_wrong = true;
        const auto r = m.launch("shift_in_place", {79}, {256}, d, 20000);
        return Outcome{{}, m.download(d), r.counters, r.duration_ns};
    });
}

TEST_CASE("what an abandoned attempt has executed does not count towards the budget") {
    const auto instructions = [](unsigned threads, std::uint64_t limit) {
        Machine m(threads, vgpu::test::read_text(WG_TEST_KERNELS), limit, "h100", no_checks);
        m.may_be_wrong = true;
        const auto d = m.upload(std::vector<int>(20000));
        return m.launch("shift_in_place", {79}, {256}, d, 20000).counters.inst_executed;
    };
    const auto needed = instructions(1, 200'000'000);
    CHECK(instructions(8, needed + needed / 8) == needed);
}

TEST_CASE("an attempt that is found to conflict at its end leaves the whole budget to the serial run") {
    const auto instructions = [](unsigned threads, std::uint64_t limit) {
        Machine m(threads, vgpu::test::read_text(WG_TEST_KERNELS), limit, "h100", no_checks);
        m.may_be_wrong = true;
        return m.launch("last_writer_wins", {2000}, {64}, m.upload(std::vector<int>(7))).counters.inst_executed;
    };
    const auto needed = instructions(1, 200'000'000);
    for (int repeat = 0; repeat < 5; ++repeat) CHECK(instructions(8, needed) == needed);
}

TEST_CASE("many blocks print in their order, each once") {
    std::string expected;
    for (int block = 0; block < 200; ++block)
        for (int thread = 0; thread < 2; ++thread)
            expected += "block " + std::to_string(block) + " thread " + std::to_string(thread) +
                        ":  4.50 text x 1099511627776 %\n";
    for (const unsigned threads : {1u, 2u, 8u})
        for (int repeat = 0; repeat < 5; ++repeat) {
            CAPTURE(threads);
            Machine m = machine(threads, no_checks);
            m.launch("say", {200}, {32}, 3);
            CHECK(m.gpu->take_output().text == expected);
        }
}

TEST_CASE("the last block to arrive sums what the others wrote") {
    check_always_the_same([](unsigned threads, const device::Checks& checks) {
        Machine m = machine(threads, checks);
        const auto in = m.upload(noise(32 * 100)), partial = m.upload(std::vector<float>(100)),
                   out = m.upload(std::vector<float>(1));
        const auto r = m.launch("last_block_sums", {100}, {32}, in, partial, out, 3200);
        return Outcome{m.download(out), {}, r.counters, r.duration_ns};
    });
}

TEST_CASE("histogram of many blocks") {
    check_always_the_same([](unsigned threads, const device::Checks& checks) {
        Machine m = machine(threads, checks);
        std::vector<int> in(30000);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 31);
        const auto a = m.upload(in), bins = m.upload(std::vector<int>(16));
        const auto r = m.launch("histogram", {20}, {128}, a, bins, 30000);
        return Outcome{{}, m.download(bins), r.counters, r.duration_ns};
    });
}

TEST_CASE("blocks that exchange by barriers and by shuffles") {
    for (const char* kernel : {"reduce_tree", "reduce_shuffle"}) {
        CAPTURE(kernel);
        check_always_the_same([&](unsigned threads, const device::Checks& checks) {
            Machine m = machine(threads, checks, WG_BENCH_KERNELS);
            const auto in = m.upload(noise(10'000)), out = m.upload(std::vector<float>(40));
            const auto r = m.launch(kernel, {40}, {256}, in, out, 10'000);
            return Outcome{m.download(out), {}, r.counters, r.duration_ns};
        });
    }
}

TEST_CASE("irregular loads, of which times need only the first") {
    constexpr int n = 1 << 16;
    std::vector<int> places(8 * n);
    std::uint32_t random = 9;
    for (int& place : places) place = static_cast<int>((random = random * 1664525u + 1013904223u) >> 16);
    check_always_the_same([&](unsigned threads, const device::Checks& checks) {
        Machine m = machine(threads, checks, WG_BENCH_KERNELS);
        const auto in = m.upload(noise(n)), out = m.upload(std::vector<float>(n));
        const auto r = m.launch("gather", {n / 256}, {256}, in, m.upload(places), out, n);
        return Outcome{m.download(out), {}, r.counters, r.duration_ns};
    });
}

TEST_CASE("a fault is the first block's, whatever ran beside it") {
    std::string serial;
    for (const unsigned threads : {1u, 2u, 8u}) {
        Machine m(threads);
        const auto in = m.upload(std::vector<int>(5000)), out = m.upload(std::vector<int>(1000));
        std::string text;
        try {
            m.launch("copy", {100}, {64}, in, out, 5000);
        } catch (const device::DeviceError& e) {
            text = e.what();
        }
        CHECK(text.find("block (15,0,0)") != std::string::npos);
        if (serial.empty()) serial = text;
        CHECK(text == serial);
    }
}

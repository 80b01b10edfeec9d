// Every thread makes progress, whatever it waits for. If one waits forever, the message says which threads wait where.
#include <numeric>

#include "support/contains.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using vgpu::test::message_of;
using vgpu::test::read_text;

namespace {

Machine scheduling(unsigned threads = 1, std::uint64_t limit = 50'000'000) {
    return Machine(threads, read_text(WG_TEST_SCHEDULING ".sm_80"), limit);
}

std::vector<int> ints(int n, int value = 0) { return std::vector<int>(static_cast<std::size_t>(n), value); }

template <class F>
std::vector<int> each(int n, F&& f) {
    auto v = ints(n);
    std::iota(v.begin(), v.end(), 0);
    for (int& i : v) i = f(i);
    return v;
}

// f(threads) must give the same for any number of host threads.
template <class F>
void for_any_threads(F&& f) {
    const auto serial = f(1u);
    for (const unsigned threads : {2u, 3u, 8u}) CHECK(f(threads) == serial);
}

}  // namespace

TEST_CASE("locks: ticket lock, unlock in different branches, all lanes of many warps") {
    for_any_threads([](unsigned threads) {
        Machine m = scheduling(threads);
        const auto value = m.upload(ints(2)), lock = m.upload(ints(1)), count = m.upload(ints(2));
        m.launch("ticket_lock", {8}, {256}, value);
        CHECK(m.download(value)[0] == 64);
        const auto c = m.launch("lock_and_unlock_apart", {4}, {96}, lock, count).counters;
        CHECK(m.download(count) == std::vector<int>{384, 192});
        return c;
    });
}

TEST_CASE("flags: lanes, warps and blocks wait for each other") {
    for_any_threads([](unsigned threads) {
        Machine m = scheduling(threads);
        const auto out = m.upload(ints(64)), flag = m.upload(ints(1)), data = m.upload(ints(1));
        m.may_be_wrong = true;  // the checks require atomics between lanes, and no __ldcg() of what others write
        auto c = m.launch("lane_waits_for_lane", {1}, {64}, out).counters;
        CHECK(m.download(out) == each(64, [](int t) { return t * 2; }));
        c += m.launch("warp_waits_for_warp", {1}, {64}, out).counters;
        CHECK(m.download(out)[0] == 49 * 50 * 99 / 6);
        c += m.launch("polls_with_ldcg", {7}, {64}, flag, out).counters;
        CHECK(m.download(out)[0] == 5);
        const auto ready = m.upload(ints(1));
        c += m.launch("acquire_release", {2}, {32}, data, ready, out).counters;
        CHECK(m.download(out)[0] == 17);
        return c;
    });
}

TEST_CASE("decoupled look-back, persistent blocks and a barrier of all blocks") {
    for_any_threads([](unsigned threads) {
        Machine m = scheduling(threads);
        const int blocks = 100, n = blocks * 32;
        const auto in = m.upload(each(n, [](int i) { return i % 7; })), out = m.upload(ints(n)),
                   state = m.upload(ints(2 * blocks)), next = m.upload(ints(1)), item = m.upload(ints(1));
        auto c = m.launch("look_back_scan", {blocks}, {32}, in, state, out, next).counters;
        int sum = 0;
        CHECK(m.download(out) == each(n, [&](int i) { return sum += i % 7; }));
        const auto items = m.upload(ints(500));
        c += m.launch("persistent", {6}, {64}, item, 500, items).counters;
        CHECK(m.download(items) == each(500, [](int i) { return i * 3; }));
        const auto values = m.upload(ints(2 * 320)), result = m.upload(ints(320));
        c += m.launch("grid_barrier_by_hand", {10}, {32}, values, result).counters;
        CHECK(m.download(result) == ints(320, 3));
        return c;
    });
}

TEST_CASE("named barriers connect a producer and a consumer") {
    Machine m = scheduling();
    const auto out = m.upload(ints(32));
    m.launch("named_barriers", {1}, {64}, out);
    CHECK(m.download(out) == each(32, [](int t) { return 10 * (31 - t); }));
}

TEST_CASE("waiting at a barrier object is not work") {
    for_any_threads([](unsigned threads) {
        Machine m = scheduling(threads);
        const auto out = m.upload(ints(8 * 1024));
        const auto plain = m.launch("pass_by_syncthreads", {8}, {1024}, out, 64);
        CHECK(m.download(out)[33] == 33);  // 64 rounds move a value around twice
        const auto object = m.launch("pass_by_barrier_object", {8}, {1024}, out, 64);
        CHECK(m.download(out)[33] == 33);
        // Each wait is a loop of libcu++ that asks twice at most: some 50 instructions.
        const std::uint64_t waits = 2 * 64 * 8 * 32;  // of a warp each
        CHECK(object.counters.inst_executed < plain.counters.inst_executed + 64 * waits);
        return object.counters.inst_executed;
    });
}

TEST_CASE("a deadlock says who waits where") {
    Machine m = scheduling(1, 3'000'000);
    const auto out = m.upload(ints(128));
    auto text = message_of([&] { m.launch("barrier_for_some", {1}, {64}, out); }, device::error::launch_timeout);
    CHECK_THAT(text, Contains("scheduling.cu:") &&
                         Contains(": waits at __syncthreads(), which 40 of 64 threads have reached") &&
                         Contains("; 24 threads wait at ") && Contains("[thread (0,0,0) of block (0,0,0)]"));
    text = message_of([&] { m.launch("trips_differ", {1}, {64}, out); }, device::error::launch_timeout);
    CHECK_THAT(text,
               Contains("waits at barrier 1, which 32 of 64 threads have reached") && Contains("thread (32,0,0)"));
}

TEST_CASE("a wait that never ends is stopped by the budget, and says where") {
    Machine m = scheduling(1, 3'000'000);
    const auto flag = m.upload(ints(1)), out = m.upload(ints(1));
    auto text = message_of([&] { m.launch("plain_spin", {2}, {64}, flag, out); }, device::error::launch_timeout);
    CHECK_THAT(text, Contains("has executed 3,000,000 warp instructions") && Contains("scheduling.cu:"));
    text = message_of([&] { m.launch("plain_spin", {1}, {64}, flag, out); }, device::error::launch_timeout);
    CHECK_THAT(text, Contains("has executed 3,000,000 warp instructions") && !Contains("had not started"));
    text =
        message_of([&] { m.launch("waits_for_absent_blocks", {5000}, {1024}, flag); }, device::error::launch_timeout);
    CHECK_THAT(text, Contains("4,992 of 5,000 blocks had not started, because no more than 8 fit ") &&
                         Contains("scheduling.cu:"));
}

TEST_CASE("malloc in kernels: objects live on, the heap can be full, the host cannot reach it") {
    for_any_threads([](unsigned threads) {
        Machine m = scheduling(threads);
        const auto pointers = m.upload(std::vector<std::uint64_t>(128)),
                   sums = m.upload(std::vector<std::uint64_t>(64));
        m.launch("allocate", {2}, {64}, pointers, 10);
        const auto addresses = m.download(pointers);
        m.launch("add_up", {2}, {64}, pointers, 10, sums);
        std::vector<int> v(128);
        m.gpu->read(sums.address, std::as_writable_bytes(std::span(v)));
        CHECK(v == each(128, [](int t) { return t % 64 * 1000 + 45; }));
        int value = 0;
        CHECK_THAT(message_of([&] { m.gpu->read(addresses[3], std::as_writable_bytes(std::span(&value, 1))); },
                              device::error::invalid_value),
                   Contains("malloc in a kernel"));
        CHECK_THAT(message_of([&] { m.gpu->free(addresses[3]); }, device::error::invalid_value), Contains("cudaFree"));
        m.launch("release", {2}, {64}, pointers);
        const auto big = m.upload(std::vector<std::uint64_t>(32));
        m.launch("allocate", {1}, {32}, big, 1 << 17);  // 16 objects of 512 KiB do not fit 8 MiB
        const auto got = m.download(big);
        CHECK(std::count(got.begin(), got.end(), 0u) == 17);
        CHECK_THAT(
            message_of([&] { m.gpu->set_limit(device::Limit::MallocHeapSize, 1 << 20); }, device::error::invalid_value),
            Contains("cannot change"));
        return addresses;
    });
    Machine m = scheduling();
    m.gpu->set_limit(device::Limit::MallocHeapSize, 64u << 20);
    const auto big = m.upload(std::vector<std::uint64_t>(32));
    m.launch("allocate", {1}, {32}, big, 1 << 17);
    const auto got = m.download(big);
    CHECK(std::count(got.begin(), got.end(), 0u) == 0);
}

TEST_CASE("new and delete make linked lists") {
    Machine m = scheduling();
    const auto out = m.upload(std::vector<int>(64));
    m.launch("list", {1}, {64}, out, 12);
    CHECK(m.download(out) == each(64, [](int t) {
              int sum = 0;
              for (int i = 11; i >= 0; --i) sum = sum * 3 + i * (t + 1);
              return sum;
          }));
}

TEST_CASE("misuse of device memory is named: beyond an object, freed twice, freed elsewhere") {
    const auto failing = [](auto&& launch, int code) {
        Machine m = scheduling();
        const auto pointers = m.upload(std::vector<std::uint64_t>(32));
        m.launch("allocate", {1}, {32}, pointers, 5);
        return message_of([&] { launch(m, pointers); }, code);
    };
    CHECK_THAT(
        failing([](Machine& m, auto p) { m.launch("reach_beyond", {1}, {1}, p, 5); }, device::error::illegal_address),
        Contains("writes 4 bytes directly past the end of an allocation of 20 bytes (malloc in a kernel)"));
    CHECK_THAT(failing(
                   [](Machine& m, auto p) {
                       m.launch("release", {1}, {32}, p);
                       m.launch("release", {1}, {32}, p);
                   },
                   device::error::launch_failure),
               Contains("frees 0x") && Contains("that was freed") && Contains("scheduling.cu:"));
    CHECK_THAT(failing([](Machine& m,
                          auto p) { m.launch("release", {1}, {1}, m.upload(std::vector<std::uint64_t>{p.address})); },
                       device::error::launch_failure),
               Contains("not the start of an object from malloc") && Contains("cudaMalloc"));
}

TEST_CASE("printf in kernels writes as the host's does, and returns the number of arguments") {
    Machine m = scheduling();
    const auto results = m.upload(ints(6));
    m.launch("print_everything", {1}, {1}, results);
    CHECK(m.gpu->take_output().text ==
          "[   42|42   |00042|+42|ff|0XFF|10]\n[     7|0.667|text  |te]\n"
          "[q|      text|%|-5000000000|18446744073709551615|4464|1|4]\n"
          "[1.234568e+04|1e-10|0x1p+0|   3.142]\nplain\n0x1234 (null)\n");
    CHECK(m.download(results) == std::vector<int>{7, 7, 7, 4, 0, 2});
}

TEST_CASE("printf reads its texts wherever they are, as far as it goes, and no further than it must") {
    Machine m = scheduling();
    std::string long_text(5000, 'a');
    std::vector<char> text(long_text.begin(), long_text.end());
    text.push_back(0);
    const auto a = m.upload(std::vector<char>{'g', 'g', 0}), b = m.upload(text);
    m.launch("print_from_everywhere", {1}, {1}, a, 0);
    CHECK(m.gpu->take_output().text == "gg sss lll\n");
    m.launch("print_from_everywhere", {1}, {1}, m.upload(std::vector<char>{0}), 0);
    CHECK(m.gpu->take_output().text == " sss lll\n");
    const auto results = m.upload(ints(5));
    m.launch("print_limits", {1}, {1}, results, b, -6000);
    const std::string digits = "123456789";
    const auto spaces = [](int n) { return std::string(static_cast<std::size_t>(n), ' '); };
    CHECK(m.gpu->take_output().text == digits + digits + digits + "123450|" + std::string(4096, 'a') + "|" +
                                           spaces(4095) + "1|2" + spaces(4095) + "|" + std::string(4095, '0') +
                                           "3|%q 7|+8   |44 4464 xend ");
    CHECK(m.download(results) == std::vector<int>{32, 1, 4, 5, 0});
    CHECK_THAT(message_of([&] { m.launch("print_from_everywhere", {1}, {1}, std::uint64_t{16}, 0); },
                          device::error::illegal_address),
               Contains("reads an argument of printf or assert at 0x10, where nothing is allocated"));
}

TEST_CASE("printf's buffer is a ring: the newest lines stay") {
    Machine m = scheduling();
    CHECK(m.gpu->set_limit(device::Limit::PrintfFifoSize, 1 << 20) == 1 << 20);
    m.launch("print_much", {1}, {1}, 20000);
    const auto [text, dropped_bytes, dropped_lines] = m.gpu->take_output();
    CHECK(text.size() <= 1 << 20);
    CHECK(text.size() > (1 << 20) - 102);
    CHECK(dropped_lines == 9619);
    CHECK(dropped_bytes == 9619 * 101);
    CHECK(text.substr(0, 8) == "0009619 ");
    CHECK(text.substr(text.size() - 101, 7) == "0019999");
}

TEST_CASE("clocks go on, traps end the kernel") {
    Machine m = scheduling();
    const auto out = m.upload(std::vector<long long>(32));
    m.launch("clocks", {1}, {32}, out);
    CHECK(m.download(out) == std::vector<long long>(32, 3));
    CHECK_THAT(message_of([&] { m.launch("trap_some", {1}, {64}, 40); }, device::error::launch_failure),
               Contains("executes a trap [thread (40,0,0)"));
}

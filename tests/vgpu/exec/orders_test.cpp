// Other orders of blocks, warps and lanes: they show what depends on the order, and leave alone what does not.
#include <algorithm>
#include <functional>
#include <numeric>

#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using device::Order;
using vgpu::test::Machine;
using vgpu::test::read_text;

namespace {

Machine machine(Order order, const std::string& ptx) {
    return Machine(1, read_text(ptx), 50'000'000, "h100", device::parse_checks("none"), order);
}

std::vector<int> ints(int n, int value = 0) { return std::vector<int>(static_cast<std::size_t>(n), value); }

std::vector<int> count_up(int n) {
    auto v = ints(n);
    std::iota(v.begin(), v.end(), 0);
    return v;
}

// What it gives in the orders in which it is called.
struct Results {
    std::vector<int> forward, reverse, interleaved, ahead;
};
Results in_all_orders(const std::function<std::vector<int>(Machine&)>& run, const std::string& ptx) {
    const auto in = [&](Order order) {
        Machine m = machine(order, ptx);
        return run(m);
    };
    return {in(Order::forward), in(Order::reverse), in(Order::interleaved), in(Order::ahead)};
}

// Both front ends of nvcc.
void for_both(const std::function<void(const std::string& ptx)>& check) {
    for (const char* ptx : {WG_TEST_ORDERS ".sm_80", WG_TEST_ORDERS ".sm_100"}) check(ptx);
}

void check_any_order(const std::function<std::vector<int>(Machine&)>& run) {
    for_both([&](const std::string& ptx) {
        const auto [forward, reverse, interleaved, ahead] = in_all_orders(run, ptx);
        CHECK(reverse == forward);
        CHECK(interleaved == forward);
        CHECK(ahead == forward);
    });
}

}  // namespace

TEST_CASE("ahead of others runs the last block, whole, while they take steps") {
    const auto seen = [](Order order) {
        Machine m(
            1,
            vgpu::test::snippet("mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 10;\n@%p1 bra L;\n"
                                "mov.u32 %r2, %ctaid.x;\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra FIRST;\n"
                                "ld.global.u32 %r3, [%a];\nmul.wide.u32 %l1, %r2, 4;\nadd.s64 %l1, %l1, %b;\n"
                                "st.global.u32 [%l1], %r3;\nbra DONE;\nFIRST: st.global.u32 [%a], 1;\nDONE:"),
            100'000, "h100", device::parse_checks("none"), order);
        const auto a = m.upload(ints(1)), b = m.upload(ints(3, 7));
        m.launch("k", {3}, {32}, a, b);
        return m.download(b);
    };
    CHECK(seen(Order::forward) == std::vector<int>{7, 1, 1});
    CHECK(seen(Order::interleaved) == std::vector<int>{7, 1, 1});
    CHECK(seen(Order::ahead) == std::vector<int>{7, 1, 0});
    CHECK(seen(Order::reverse) == std::vector<int>{7, 0, 0});
}

TEST_CASE("a missing barrier shows where the later warp runs first") {
    for_both([](const std::string& ptx) {
        const auto [forward, reverse, interleaved, ahead] = in_all_orders(
            [](Machine& m) {
                const auto out = m.upload(ints(128));
                m.launch("from_earlier_warp", {1}, {128}, out);
                return m.download(out);
            },
            ptx);
        auto right = ints(128);
        std::iota(right.begin() + 32, right.end(), 0);
        CHECK(forward == right);
        CHECK(reverse != right);
        CHECK(ahead != right);
    });
}

TEST_CASE("a block that takes it that the block before has finished") {
    for_both([](const std::string& ptx) {
        const auto [forward, reverse, interleaved, ahead] = in_all_orders(
            [](Machine& m) {
                const auto sums = m.upload(ints(5));
                m.launch("from_earlier_block", {5}, {32}, sums);
                return m.download(sums);
            },
            ptx);
        CHECK(forward == std::vector<int>{0, 1, 3, 6, 10});
        CHECK(reverse == std::vector<int>{0, 1, 2, 3, 4});
        CHECK(interleaved == std::vector<int>{0, 1, 2, 3, 4});
        CHECK(ahead == std::vector<int>{0, 1, 2, 3, 4});
    });
}

TEST_CASE("additions without atomics are lost between blocks and between warps that take turns") {
    for_both([](const std::string& ptx) {
        for (const char* kernel : {"add_up_blocks", "add_up_warps"}) {
            const bool blocks = kernel == std::string("add_up_blocks");
            const auto [forward, reverse, interleaved, ahead] = in_all_orders(
                [&](Machine& m) {
                    const auto sum = m.upload(ints(1));
                    m.launch(kernel, {blocks ? 8u : 1u}, {blocks ? 32u : 256u}, sum);
                    return m.download(sum);
                },
                ptx);
            CHECK(forward == ints(1, 28));
            CHECK(reverse == ints(1, 28));
            CHECK(interleaved[0] < 28);
            CHECK(ahead[0] < 28);
        }
    });
}

TEST_CASE("lanes that take it that their warp runs together") {
    for_both([](const std::string& ptx) {
        const auto [forward, reverse, interleaved, ahead] = in_all_orders(
            [](Machine& m) {
                const auto in = m.upload(count_up(32)), out = m.upload(ints(1));
                m.launch("without_syncwarp", {1}, {64}, in, out);
                return m.download(out);
            },
            ptx);
        CHECK(forward == ints(1, 496));
        CHECK(reverse != ints(1, 496));
        CHECK(ahead != ints(1, 496));
    });
}

TEST_CASE("right kernels give the same in all orders") {
    check_any_order([](Machine& m) {
        const auto in = m.upload(count_up(32)), out = m.upload(ints(1));
        m.launch("with_syncwarp", {1}, {32}, in, out);
        CHECK(m.download(out) == ints(1, 496));
        return m.download(out);
    });
    for (const unsigned threads : {32u, 90u, 256u})
        check_any_order([threads](Machine& m) {
            const auto n = static_cast<int>(threads);
            const auto in = m.upload(count_up(n)), out = m.upload(ints(n)), votes = m.upload(ints(n));
            m.launch("exchange", {1}, {threads}, in, out, votes);
            auto all = m.download(out);
            const auto more = m.download(votes);
            all.insert(all.end(), more.begin(), more.end());
            return all;
        });
    check_any_order([](Machine& m) {
        const auto out = m.upload(ints(64));
        m.launch("active_lanes", {1}, {64}, out);
        return m.download(out);
    });
    check_any_order([](Machine& m) {
        const auto out = m.upload(ints(200));
        m.launch("calls_itself", {2}, {100}, out);
        return m.download(out);
    });
    check_any_order([](Machine& m) {
        const auto in = m.upload(count_up(40)), sums = m.upload(ints(40)), out = m.upload(ints(1));
        m.launch("last_block_adds", {40}, {64}, in, sums, out);
        CHECK(m.download(out) == ints(1, 780));
        return m.download(out);
    });
    check_any_order([](Machine& m) {
        const auto out = m.upload(ints(42));
        m.launch("counted_barrier", {1}, {42}, out);
        return m.download(out);
    });
}

TEST_CASE("a block may wait for an earlier one, although more blocks are launched than fit at once") {
    check_any_order([](Machine& m) {
        const auto ready = m.upload(ints(150)), out = m.upload(ints(150));
        m.launch("chain", {150}, {32}, ready, out);
        return m.download(out);
    });
}

TEST_CASE("blocks of several warps may wait for each other") {
    check_any_order([](Machine& m) {
        const auto values = m.upload(ints(3 * 96)), out = m.upload(ints(3 * 96));
        m.launch("all_wait_for_all", {3}, {96}, values, out);
        auto right = count_up(3 * 96);
        std::reverse(right.begin(), right.end());
        CHECK(m.download(out) == right);
        return m.download(out);
    });
}

TEST_CASE("an order has a name; others are refused with the list") {
    CHECK(device::parse_order("interleaved") == Order::interleaved);
    CHECK_THROWS_WITH(device::parse_order("last"), Contains("forward, reverse, interleaved or ahead"));
}

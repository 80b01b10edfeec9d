// Results in other orders of blocks and warps: which calls are repeated, and what a message shows.
// tests/grader/grading/test_orders.py has whole grades.
#include "judge/orders.hpp"

#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "judge/compare.hpp"
#include "judge/context.hpp"
#include "judge/replay.hpp"
#include "judge/signs.hpp"
#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;

namespace {

std::string mismatch() { return std::exchange(context().mismatch, {}); }

LastOutput output(const std::vector<float>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {"y", wire::Kind::out, {}, {bytes.begin(), bytes.end()}, false};
}

// Tells of wrong elements as a matcher does: 1.5 where 2 ± 0.25 is right, which the ordinary order gives nearly.
std::string told(device::Order order, std::size_t size, std::size_t wrong) {
    const std::vector<float> forward(size, 2.125f);
    context().begin_test("orders");
    context().outputs = {output(forward)};
    detail::Differences differences(0, 0, std::numeric_limits<float>::digits);
    std::vector<std::string> ordinary;
    for (std::size_t i = 0; i < wrong; ++i) {
        differences.add(i, false);
        if (!differences.shows_more()) continue;
        differences.show("2", "1.5", 0.25);
        ordinary.emplace_back("2.125");
    }
    differences.explain_order(order, ordinary, size, std::as_bytes(std::span(forward)));
    CHECK(context().signs == std::vector<std::string>{std::string(sign::order)});
    const std::string text = mismatch();
    CHECK(context().failure == "y: " + text);
    return text;
}

device::Diagnostic race(std::uint32_t line, std::uint32_t other) {
    device::Diagnostic found;
    found.rule = &device::rules::race_shared;
    found.place = {"sum.cu", line, 0};
    found.related.push_back({"written by", {"sum.cu", other, 0}, device::ThreadPlace{}});
    return found;
}

}  // namespace

TEST_CASE("a message shows the expected value and those of both orders, in columns") {
    CHECK(told(device::Order::reverse, 100, 1) ==
          "right if blocks, warps and lanes run in the order of their numbers, but they may run in any order. With the "
          "last ones first, 1 of 100 elements is wrong:\n"
          "       expected  in order  last first\n"
          "  [0]  2 ± 0.25     2.125         1.5");
    const auto many = told(device::Order::interleaved, 100, 30);
    CHECK_THAT(many, Contains("With turns at each access of memory, 30 of 100 elements are wrong:") &&
                         Contains("expected  in order  in turns\n") && Contains("\n  [4]  ") && Contains("\n  …") &&
                         !Contains("[5]"));
    const auto alone = told(device::Order::ahead, 1, 1);
    CHECK_THAT(alone, Contains("With the last ones far ahead it is wrong:") && !Contains("[0]"));
    CHECK_THAT(told(device::Order::ahead, 2, 1), Contains("\n  [0]  2 ± 0.25 "));
}

TEST_CASE("a message names the accesses that racecheck found, each line once") {
    context().begin_test("orders");
    const std::vector<float> forward{1};
    const auto tell = [&](std::vector<device::Diagnostic> found) {
        context().diagnostics = std::move(found);
        detail::explain_failed_order({device::Order::reverse, {}, "it crashed"}, std::as_bytes(std::span(forward)));
        return mismatch();
    };
    CHECK_THAT(tell({}), Contains("With the last ones first the call fails: it crashed"));
    CHECK_THAT(tell({race(17, 18)}), Contains("\n  Nothing orders the accesses at sum.cu:17 and sum.cu:18 "
                                              "(racecheck/shared)"));
    CHECK_THAT(tell({race(18, 18)}), Contains("accesses at sum.cu:18 (racecheck/shared)"));
    device::Diagnostic leak;
    leak.rule = &device::rules::leak;
    leak.place = {"sum.cu", 3, 0};
    CHECK_THAT(tell({leak}), !Contains("sum.cu"));
    context().begin_test("");
}

TEST_CASE("calls are repeated that are small and whose result comes from a kernel") {
    const auto call = [](std::size_t elements) {
        CallSpec spec;
        spec.function = "scale";
        spec.arguments.push_back({wire::Kind::out, wire::Type::f32, 0, {}, elements, ""});
        return StoredCall(spec);
    };
    std::vector<StoredCall> calls;
    context().kernels = KernelWork::written;
    CHECK_FALSE(may_be_repeated(calls));
    calls.push_back(call(32768));
    CHECK(may_be_repeated(calls));
    for (const auto work : {KernelWork::unknown, KernelWork::not_launched, KernelWork::nothing_written}) {
        context().kernels = work;
        CHECK_FALSE(may_be_repeated(calls));
    }
    context().kernels = KernelWork::written;
    calls.clear();
    calls.push_back(call(32769));
    calls.push_back(call(1));
    CHECK_FALSE(may_be_repeated(calls));  // an earlier call of the test is repeated as well
    context().kernels = KernelWork::unknown;
}

TEST_CASE("only the virtual GPU has other orders, and some tests want one alone") {
    Options options;
    CHECK_FALSE(has_other_orders(options));
    options.device_server = "warpgrade-device";
    CHECK(has_other_orders(options));
    options.device = "plain";
    CHECK_FALSE(has_other_orders(options));
    options.device = "vgpu", options.no_orders = true;
    CHECK_FALSE(has_other_orders(options));
    context().begin_test("orders", true);
    {
        const OrdinaryOrder alone;
        CHECK_FALSE(context().in_orders);
    }
    CHECK(context().in_orders);
    context().begin_test("");
    CHECK_FALSE(context().in_orders);
}

namespace {

// A test's calls of `sum` in other orders, by a program of its own.
struct InOtherOrders {
    explicit InOtherOrders(const std::string& program)
        : orders((context().options = options_of(program), context().begin_test("orders"), OtherOrders())) {}
    ~InOtherOrders() {
        context().options = before;
        context().begin_test("");
    }
    static Options options_of(const std::string& program) {
        Options options;
        options.sandbox = WG_SANDBOX, options.device_server = WG_FAKE_DEVICE, options.device = "fake:kernels";
        options.no_sandbox = true, options.seconds = 0.5;
        options.worker = WG_PROGRAMS "/program-" + program;
        return options;
    }
    // What comes in place of this result of so many calls.
    std::vector<OtherOutput> find(std::size_t count, double returned) {
        static const std::vector<double> x{1, 2};
        CallSpec spec;
        spec.function = "sum", spec.result = wire::Type::f64;
        spec.arguments.push_back({wire::Kind::in, wire::Type::f64, 0, std::as_bytes(std::span(x)), 2, ""});
        spec.arguments.push_back({wire::Kind::scalar, wire::Type::u64, 2, {}, 0, ""});
        while (calls.size() < count) calls.emplace_back(spec);
        const auto bytes = std::as_bytes(std::span(&returned, 1));
        context().returned.assign(bytes.begin(), bytes.end());
        return orders.find(bytes, calls);
    }
    Options before = context().options;
    OtherOrders orders;
    std::vector<StoredCall> calls;
};

}  // namespace

TEST_CASE("each call of a test is made once more, in order, and the next one in the next order") {
    InOtherOrders counting("counts_its_calls");
    const auto other = [&](std::size_t count) {
        CHECK(counting.find(count, static_cast<double>(count)).empty());
        const auto found = counting.find(count, -1);
        REQUIRE(found.size() == 1);
        double value = 0;
        REQUIRE(found[0].bytes.size() == sizeof value);
        std::memcpy(&value, found[0].bytes.data(), sizeof value);
        CHECK(value == static_cast<double>(count));
        CHECK(found[0].failure.empty());
        return found[0].order;
    };
    CHECK(other(1) == device::Order::ahead);
    CHECK(other(2) == device::Order::reverse);
    CHECK(other(3) == device::Order::interleaved);
    CHECK(other(5) == device::Order::reverse);
}

TEST_CASE("a call that fails in another order is told once") {
    InOtherOrders ends("sum_exits");
    const auto found = ends.find(1, 3);
    REQUIRE(found.size() == 1);
    CHECK(found[0].order == device::Order::ahead);
    CHECK(found[0].bytes.empty());
    CHECK_THAT(found[0].failure, Contains("exit"));
    CHECK(ends.find(1, 3).empty());
    CHECK(ends.find(2, 3).empty());
}

TEST_CASE("no output is looked for in other orders where there is no submission") {
    context().begin_test("orders", true);
    auto kept = std::move(context().submission);
    const std::vector<std::byte> bytes(4);
    context().returned = bytes;
    CHECK(detail::find_other_outputs(bytes).empty());
    context().submission = std::move(kept);
    context().begin_test("");
}

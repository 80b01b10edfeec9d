#include "vgpu/model/timeline.hpp"

#include <limits>
#include <stdexcept>

#include "support/approx.hpp"
#include "vgpu/model/profile.hpp"

using namespace warpgrade::device;
using namespace warpgrade::vgpu;

namespace {

// Costs that make the sums easy: issuing is free, copies run at 1 byte per nanosecond.
HostCosts simple() {
    HostCosts costs;
    costs.launch_issue_ns = costs.copy_issue_ns = costs.query_ns = costs.wake_ns = 0;
    costs.link_latency_ns = costs.device_copy_latency_ns = costs.fill_latency_ns = 0;
    costs.pinned_bytes_per_ns = costs.pageable_bytes_per_ns = 1;
    costs.device_bytes_per_ns = costs.device_efficiency = 1;
    return costs;
}

using Link = Timeline::Link;

}  // namespace

TEST_CASE("work of one stream runs in order") {
    Timeline timeline(simple());
    timeline.add_stream(1, true);
    CHECK(timeline.kernel(1, 100, 1).start_ns == 0);
    CHECK(timeline.kernel(1, 50, 0.1).start_ns == 100);
    CHECK(timeline.copy(1, Link::to_host, 30, true, false).start_ns == 150);
    CHECK(timeline.host_ns() == 0);
    CHECK(timeline.finish() == 180);
}

TEST_CASE("kernels of two streams overlap when their shares fit") {
    Timeline timeline(simple());
    timeline.add_stream(1, true), timeline.add_stream(2, true), timeline.add_stream(3, true);
    CHECK(timeline.kernel(1, 100, 0.5).start_ns == 0);
    CHECK(timeline.kernel(2, 100, 0.5).start_ns == 0);
    CHECK(timeline.kernel(3, 100, 0.5).start_ns == 100);
    CHECK(timeline.finish() == 200);
}

TEST_CASE("a later kernel never takes room that an earlier one was promised") {
    Timeline timeline(simple());
    timeline.add_stream(1, true), timeline.add_stream(2, true);
    timeline.kernel(1, 100, 0.5);
    CHECK(timeline.kernel(1, 100, 1).start_ns == 100);    // waits for its own stream
    CHECK(timeline.kernel(2, 100, 0.5).start_ns == 0);    // fits beside the first
    CHECK(timeline.kernel(2, 100, 0.5).start_ns == 200);  // but not beside the second
}

TEST_CASE("copies overlap with kernels of other streams, not with copies of the same direction") {
    Timeline timeline(simple());
    timeline.add_stream(1, true), timeline.add_stream(2, true);
    timeline.kernel(1, 100, 1);
    CHECK(timeline.copy(2, Link::to_device, 60, true, false).start_ns == 0);
    CHECK(timeline.copy(2, Link::to_host, 60, true, false).start_ns == 60);
    timeline.add_stream(3, true);
    CHECK(timeline.copy(3, Link::to_device, 10, true, false).start_ns == 60);
    CHECK(timeline.copy(3, Link::to_host, 10, true, false).start_ns == 120);
}

TEST_CASE("the legacy default stream waits for blocking streams and they for it") {
    Timeline timeline(simple());
    timeline.add_stream(1, true), timeline.add_stream(2, false);
    timeline.kernel(1, 100, 0.1);
    CHECK(timeline.kernel(0, 10, 0.1).start_ns == 100);
    CHECK(timeline.kernel(1, 10, 0.1).start_ns == 110);
    CHECK(timeline.kernel(2, 10, 0.1).start_ns == 0);  // a non-blocking stream is independent
    timeline.kernel(2, 1000, 0.1);
    CHECK(timeline.kernel(0, 10, 0.1).start_ns == 120);
    timeline.remove_stream(1);
    CHECK(timeline.kernel(0, 10, 0.1).start_ns == 130);
}

TEST_CASE("the work of a destroyed stream still counts") {
    Timeline timeline(simple());
    timeline.add_stream(1, true);
    timeline.kernel(1, 100, 1);
    timeline.remove_stream(1);
    CHECK_THROWS_AS(timeline.kernel(1, 10, 1), std::out_of_range);
    CHECK(timeline.kernel(0, 10, 1).start_ns == 100);
    timeline.add_stream(2, false);
    timeline.kernel(2, 500, 1);
    timeline.remove_stream(2);
    CHECK(timeline.finish() == 610);
}

TEST_CASE("events measure the work between them") {
    Timeline timeline(simple());
    timeline.add_stream(1, true);
    const double start = timeline.record(1);
    timeline.kernel(1, 100, 1);
    const double end = timeline.record(1);
    CHECK(end - start == 100);
    CHECK_FALSE(timeline.reached(end));
    timeline.synchronize_until(end);
    CHECK(timeline.reached(end));
    CHECK(timeline.host_ns() == 100);
}

TEST_CASE("a stream waits for an event of another") {
    Timeline timeline(simple());
    timeline.add_stream(1, false), timeline.add_stream(2, false);
    timeline.kernel(1, 100, 0.1);
    timeline.wait(2, timeline.record(1));
    CHECK(timeline.kernel(2, 10, 0.1).start_ns == 100);
}

TEST_CASE("a blocking copy holds the host, an asynchronous one does not") {
    Timeline timeline(simple());
    timeline.copy(0, Link::to_device, 100, false, false);
    CHECK(timeline.host_ns() == 0);
    timeline.copy(0, Link::to_device, 100, false, true);
    CHECK(timeline.host_ns() == 200);
}

TEST_CASE("polling a stream ends") {
    HostCosts costs = simple();
    costs.query_ns = 10;
    Timeline timeline(costs);
    timeline.kernel(0, 1000, 1);
    int polls = 0;
    while (!timeline.stream_done(0)) ++polls;
    CHECK(polls == 99);
}

TEST_CASE("issuing bounds the rate of small kernels") {
    Timeline timeline((HostCosts()));
    for (int i = 0; i < 100; ++i) timeline.kernel(0, 1000, 1);
    CHECK(timeline.finish() == Approx(100 * 3600 + 1000));
}

TEST_CASE("finish counts from the last finish") {
    Timeline timeline(simple());
    timeline.kernel(0, 100, 1);
    CHECK(timeline.finish() == 100);
    CHECK(timeline.finish() == 0);
    timeline.kernel(0, 70, 1);
    CHECK(timeline.finish() == 70);
}

TEST_CASE("many kernels that were never waited for stay cheap and in order") {
    Timeline timeline(simple());
    for (StreamId stream = 1; stream <= 8; ++stream) timeline.add_stream(stream, false);
    double last = 0;
    for (int i = 0; i < 5000; ++i) last = timeline.kernel(1 + i % 8, 10, 1).end_ns;
    CHECK(last == 50000);
}

TEST_CASE("transfers are listed with their place on the clock, once") {
    Timeline timeline(simple());
    timeline.copy(0, Timeline::Link::to_device, 1000, false, true);
    timeline.fill(0, 64, false);
    const auto transfers = timeline.take_transfers().items;
    REQUIRE(transfers.size() == 2);
    CHECK(transfers[0].kind == TransferRecord::Kind::to_device);
    CHECK(transfers[0].bytes == 1000);
    CHECK(transfers[0].when.end_ns > transfers[0].when.start_ns);
    CHECK(transfers[1].kind == TransferRecord::Kind::fill);
    CHECK(transfers[1].when.start_ns >= transfers[0].when.end_ns);
    CHECK(timeline.take_transfers().items.empty());
}

TEST_CASE("waits that a program asked for are listed, those within other calls are not") {
    Timeline timeline(simple());
    timeline.add_stream(1, false);
    const auto kernel = timeline.kernel(1, 1000, 1);
    CHECK_FALSE(timeline.stream_done(1));
    timeline.drain();
    CHECK(timeline.host_ns() >= kernel.end_ns);
    CHECK(timeline.take_waits().items.empty());

    const double end_ns = timeline.kernel(1, 1000, 1).end_ns;
    timeline.synchronize_stream(1);
    CHECK(timeline.stream_done(1));
    timeline.copy(0, Timeline::Link::to_device, 1000, true, false);
    timeline.copy(0, Timeline::Link::to_host, 1000, false, true);
    const auto waits = timeline.take_waits().items;
    REQUIRE(waits.size() == 3);  // the stream, the query, the blocking copy
    CHECK(waits[0] >= end_ns);
    CHECK(waits[2] == timeline.host_ns());
    CHECK(timeline.take_waits().items.empty());
}

TEST_CASE("what is not listed is said to be missing") {
    Timeline timeline{HostCosts{}};
    for (int i = 0; i <= 65536; ++i) timeline.fill(0, 4, true);
    const auto transfers = timeline.take_transfers();
    CHECK(transfers.items.size() == 65536);
    CHECK_FALSE(transfers.complete);
    const auto waits = timeline.take_waits();
    CHECK(waits.items.size() == 65536);
    CHECK_FALSE(waits.complete);
    for (int i = 0; i < 65536; ++i) timeline.fill(0, 4, true);
    CHECK(timeline.take_transfers().complete);
    CHECK(timeline.take_waits().complete);
}

TEST_CASE("modules cost what a copy of them costs, but for the code that any lab has") {
    const HostCosts costs;
    Timeline timeline{costs};
    timeline.load(128 << 10);
    timeline.load(128 << 10);
    CHECK(timeline.host_ns() == 0);
    timeline.load(160);
    CHECK(timeline.host_ns() == Approx(160 / costs.pageable_bytes_per_ns));
    timeline.load(16 << 20);
    CHECK(timeline.host_ns() == Approx((160 + (16 << 20)) / costs.pageable_bytes_per_ns));
    CHECK(timeline.take_transfers().items.empty());
}

TEST_CASE("what each kind of transfer costs: its issue, its latency and its bytes, within the device both ways") {
    HostCosts costs = simple();
    costs.copy_issue_ns = 3, costs.launch_issue_ns = 5;
    costs.link_latency_ns = 10, costs.device_copy_latency_ns = 20, costs.fill_latency_ns = 40;
    costs.pinned_bytes_per_ns = 4, costs.pageable_bytes_per_ns = 2, costs.device_bytes_per_ns = 8;
    costs.device_efficiency = 0.5;
    Timeline timeline(costs);
    const auto length = [](const Interval& when) { return when.end_ns - when.start_ns; };
    CHECK(length(timeline.copy(0, Link::to_device, 800, true, true)) == 210);
    CHECK(length(timeline.copy(0, Link::to_host, 800, false, true)) == 410);
    CHECK(length(timeline.copy(0, Link::within_device, 800, false, true)) == 420);
    CHECK(length(timeline.copy(0, Link::within_device, 800, true, true)) == 420);
    CHECK(length(timeline.fill(0, 800, true)) == 240);
    CHECK(timeline.host_ns() == 210 + 410 + 420 + 420 + 240 + 5 * 3);
    // Recording and waiting for events costs as much as issuing a copy; kernels have their own cost.
    const double before = timeline.host_ns();
    CHECK(timeline.record(0) == before + 3);
    timeline.wait(0, 0);
    CHECK(timeline.host_ns() == before + 6);
    CHECK(timeline.kernel(0, 100, 1).start_ns == before + 11);
    CHECK(timeline.host_ns() == before + 11);
}

TEST_CASE("what an H100 costs its host, and slower links the others") {
    const HostCosts h100 = HostCosts::of(find_profile("h100").properties);
    CHECK((h100.launch_issue_ns == 3600 && h100.copy_issue_ns == 1000 && h100.query_ns == 260 && h100.wake_ns == 2500));
    CHECK((h100.link_latency_ns == 2200 && h100.device_copy_latency_ns == 3900 && h100.fill_latency_ns == 1500));
    CHECK((h100.pinned_bytes_per_ns == 55 && h100.pageable_bytes_per_ns == 16));
    CHECK((h100.mapped_read_bytes_per_ns == 50 && h100.mapped_write_bytes_per_ns == 52));
    CHECK((h100.migration_bytes_per_ns == 9 && h100.migration_latency_ns == 80000));
    CHECK((h100.device_bytes_per_ns == 3000 && h100.device_efficiency == 0.89));
    CHECK(HostCosts::of({}).device_bytes_per_ns == 3350);  // of a device that does not say

    const struct {
        const char* name;
        double pinned, pageable, migration;
    } links[] = {
        {"b200", 55, 16, 9}, {"a100", 25, 15, 9}, {"rtx4090", 25, 15, 9}, {"t4", 12.5, 7.5, 9}, {"k2200", 6, 3.6, 6}};
    for (const auto& link : links) {
        const HostCosts costs = HostCosts::of(find_profile(link.name).properties);
        CAPTURE(link.name);
        CHECK(costs.pinned_bytes_per_ns == link.pinned);
        CHECK(costs.pageable_bytes_per_ns == Approx(link.pageable));
        CHECK(costs.migration_bytes_per_ns == link.migration);
        CHECK(costs.mapped_read_bytes_per_ns == Approx(50 * link.pinned / 55));
        CHECK(costs.mapped_write_bytes_per_ns == Approx(52 * link.pinned / 55));
    }
}

TEST_CASE("copies within the device and fills share an engine of their own") {
    Timeline timeline(simple());
    timeline.add_stream(1, false), timeline.add_stream(2, false), timeline.add_stream(3, false);
    CHECK(timeline.copy(1, Link::within_device, 50, true, false).end_ns == 100);
    CHECK(timeline.fill(2, 100, false).start_ns == 100);
    CHECK(timeline.copy(3, Link::to_host, 10, true, false).start_ns == 0);
}

TEST_CASE("waking up costs, but only if the host has slept") {
    HostCosts costs = simple();
    costs.wake_ns = 7;
    Timeline timeline(costs);
    timeline.kernel(0, 100, 1);
    timeline.synchronize_stream(0);
    CHECK(timeline.host_ns() == 107);
    timeline.synchronize_device();
    CHECK(timeline.host_ns() == 107);
    timeline.synchronize_until(107);
    CHECK(timeline.host_ns() == 107);
    CHECK(timeline.take_waits().items == std::vector<double>{107, 107, 107});
    CHECK(timeline.finish() == 107);
}

TEST_CASE("the default stream waits for blocking streams alone, those that are gone included") {
    Timeline timeline(simple());
    timeline.add_stream(1, true), timeline.add_stream(2, false);
    timeline.kernel(1, 100, 0.1);
    timeline.kernel(2, 500, 0.1);
    timeline.remove_stream(2);
    timeline.remove_stream(2);
    timeline.remove_stream(0);  // stream 0 remains
    CHECK(timeline.kernel(0, 10, 0.1).start_ns == 100);
    timeline.kernel(1, 100, 0.1);
    timeline.remove_stream(1);
    CHECK(timeline.kernel(0, 10, 0.1).start_ns == 210);
    timeline.drain();
    CHECK(timeline.host_ns() == 500);
}

TEST_CASE("an event of the default stream holds back all blocking streams") {
    Timeline timeline(simple());
    timeline.add_stream(1, true), timeline.add_stream(2, true), timeline.add_stream(3, false);
    timeline.kernel(1, 100, 0.1);
    CHECK(timeline.record(0) == 100);
    CHECK(timeline.kernel(2, 10, 0.1).start_ns == 100);
    CHECK(timeline.kernel(3, 10, 0.1).start_ns == 0);
}

TEST_CASE("waiting for what is over keeps nobody back, nor does it undo what a stream still has to do") {
    Timeline timeline(simple());
    timeline.add_stream(1, false), timeline.add_stream(2, false);
    const double early = timeline.record(2);
    timeline.kernel(1, 100, 0.1);
    timeline.wait(1, early);
    CHECK(timeline.kernel(1, 10, 0.1).start_ns == 100);
    timeline.synchronize_stream(2);
    CHECK(timeline.host_ns() == 0);
}

TEST_CASE("the calendar keeps so many moments; no kernel begins before the first of them") {
    Timeline timeline(simple());
    timeline.add_stream(1, false), timeline.add_stream(2, false);
    // Each kernel adds an entry; with the last one's end there are 2049, and the next call drops one.
    for (int i = 0; i < 2048; ++i) timeline.kernel(1, 10, 0.1);
    CHECK(timeline.kernel(2, 1, 0.1).start_ns == 10);
    // The part that the host has waited for is dropped first.
    timeline.synchronize_device();
    CHECK(timeline.kernel(2, 1, 0.1).start_ns == 20480);
}

TEST_CASE("a launch of no possible duration is refused, and takes no time") {
    Timeline timeline(simple());
    const double endless = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
    for (const double wrong : {endless, -endless, none, -1.0, -1e-9}) {
        CHECK_THROWS_AS(timeline.kernel(0, wrong, 1), std::logic_error);
        for (std::size_t i = 0; i < Demand{}.size(); ++i) {
            Demand demand{};
            demand[i] = wrong;
            CHECK_THROWS_AS(timeline.kernel(0, 100, 1, demand), std::logic_error);
        }
    }
    CHECK(timeline.kernel(0, 0, 1).end_ns == 0);
    CHECK(timeline.kernel(0, 100, 1).start_ns == 0);
}

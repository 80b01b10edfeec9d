// The clock of a device: what its streams, events, copies and modules take.
#include "support/approx.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/model/host_costs.hpp"

using namespace warpgrade;
using vgpu::HostCosts;
using vgpu::test::Machine;

namespace {

// Counts to 1000 in each thread.
const std::string busy =
    ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry busy()\n{\n.reg .b32 %r;\n.reg .pred %p;\n"
    "mov.u32 %r, 0;\nL: add.u32 %r, %r, 1;\nsetp.lt.u32 %p, %r, 1000;\n@%p bra L;\nret;\n}\n";

struct Clocked : Machine {
    Clocked() : Machine(1, busy) { gpu->finish(); }
    // The record of a launch of so many blocks.
    device::LaunchRecord run(device::StreamId stream, std::uint32_t blocks = 1) {
        gpu->launch(gpu->find_function(module, "busy"), {{blocks}, {1024}, 0, stream, false}, {});
        return analysis->take_records().at(0);
    }
    double copy(device::TransferTime transfer) {
        gpu->schedule_transfer(transfer);
        const auto listed = analysis->take_transfers().items;
        REQUIRE(listed.size() == 1);
        CHECK((listed[0].stream == transfer.stream && listed[0].bytes == transfer.bytes));
        CHECK(static_cast<int>(listed[0].kind) == static_cast<int>(transfer.kind));
        return listed[0].when.end_ns - listed[0].when.start_ns;
    }
    const HostCosts costs = HostCosts::of(gpu->properties());
};

}  // namespace

TEST_CASE("an event tells when the work before it is done") {
    Clocked m;
    m.gpu->create_stream(1, false);
    m.gpu->record_event(7, 1);
    const double start = *m.gpu->elapsed_ns(7, 7);
    CHECK(start == 0);
    const double ns = *m.run(1).duration_ns;
    m.gpu->record_event(8, 1);
    CHECK_FALSE(m.gpu->query_event(8));
    CHECK_FALSE(m.gpu->elapsed_ns(7, 8));
    CHECK_FALSE(m.gpu->elapsed_ns(8, 7));  // whichever of the two is later
    CHECK_FALSE(m.gpu->query_stream(1));
    m.gpu->synchronize_event(8);
    CHECK(m.gpu->query_event(8));
    CHECK(m.gpu->query_stream(1));
    CHECK(*m.gpu->elapsed_ns(7, 8) >= ns);
    CHECK(*m.gpu->elapsed_ns(7, 8) < ns + m.costs.launch_issue_ns + 5 * m.costs.copy_issue_ns);
    CHECK(*m.gpu->elapsed_ns(8, 7) == -*m.gpu->elapsed_ns(7, 8));
    // An event that was never recorded, or is forgotten, is done.
    m.run(1);
    m.gpu->record_event(8, 1);
    CHECK_FALSE(m.gpu->query_event(8));
    m.gpu->forget_event(8);
    CHECK(m.gpu->query_event(8));
    CHECK(m.gpu->query_event(9));
}

TEST_CASE("a stream waits for an event, for its own work, and a blocking one for the default stream") {
    Clocked m;
    m.gpu->create_stream(1, false), m.gpu->create_stream(2, false), m.gpu->create_stream(3, true);
    const auto first = m.run(1);
    m.gpu->record_event(7, 1);
    m.gpu->wait_for_event(2, 99);  // never recorded
    CHECK(*m.run(2).start_ns < *first.start_ns + *first.duration_ns);
    m.gpu->wait_for_event(2, 7);
    const auto second = m.run(2);
    CHECK(*second.start_ns >= *first.start_ns + *first.duration_ns);
    CHECK(*m.run(3).start_ns < *second.start_ns + *second.duration_ns);
    m.gpu->synchronize_device();
    const auto third = m.run(0);
    CHECK(*m.run(3).start_ns == Approx(*third.start_ns + *third.duration_ns));
    m.gpu->synchronize_stream(3);
    CHECK(m.gpu->query_stream(0));
    m.gpu->destroy_stream(3);
    CHECK(m.analysis->take_waits().items.size() == 3);
    m.run(0);
    m.gpu->drain();
    CHECK(m.analysis->take_waits().items.empty());
    CHECK(m.gpu->query_stream(0));
}

TEST_CASE("copies and fills take what their bytes and their kind of memory take, and hold the host if they block") {
    using Kind = device::TransferTime::Kind;
    Clocked m;
    const std::uint64_t bytes = 1 << 30;
    CHECK(m.copy({Kind::to_device, 0, bytes, true, true}) == Approx(m.costs.link_latency_ns + bytes / 55.0));
    CHECK(m.copy({Kind::to_host, 0, bytes, false, true}) == Approx(m.costs.link_latency_ns + bytes / 16.0));
    const double rate = m.costs.device_bytes_per_ns * m.costs.device_efficiency;
    CHECK(m.copy({Kind::within_device, 0, bytes, false, true}) ==
          Approx(m.costs.device_copy_latency_ns + 2 * bytes / rate));
    CHECK(m.copy({Kind::fill, 0, bytes, false, true}) == Approx(m.costs.fill_latency_ns + bytes / rate));
    CHECK(m.gpu->query_stream(0));
    for (const Kind kind : {Kind::to_device, Kind::fill}) {
        m.copy({kind, 0, bytes, false, false});
        CHECK_FALSE(m.gpu->query_stream(0));
        m.gpu->synchronize_device();
    }
}

TEST_CASE("launches of few blocks run beside each other, those that fill the device one after the other") {
    Clocked m;
    m.gpu->create_stream(1, false), m.gpu->create_stream(2, false);
    const std::uint32_t fit = m.gpu->properties().multi_processor_count * m.run(0).occupancy.blocks_per_multiprocessor;
    const auto apart = [&](std::uint32_t blocks) {
        m.gpu->synchronize_device();
        const auto first = m.run(1, blocks), second = m.run(2, blocks);
        return *second.start_ns - (*first.start_ns + *first.duration_ns);
    };
    CHECK(apart(1) < 0);
    CHECK(apart(fit / 2) < 0);
    CHECK(apart(fit / 2 + 1) == Approx(0).margin(1));
    CHECK(apart(fit) == Approx(0).margin(1));

    // Alone each takes exactly its time, whenever it starts; beside another one that needs the same, more.
    m.gpu->synchronize_device();
    const double alone = *m.run(1, 4).duration_ns;
    for (int i = 0; i < 20; ++i) {
        m.gpu->synchronize_device();
        CHECK(*m.run(1, 4).duration_ns == alone);
    }
    CHECK(*m.run(2, 4).duration_ns > 1.2 * alone);
}

TEST_CASE("a large module takes the host the time of its copy, also if it is loaded in pieces") {
    Clocked m;
    const std::string large = busy + std::string(1 << 20, ' ');
    m.gpu->load_module(std::as_bytes(std::span(large)));
    const double ns = m.gpu->finish();
    CHECK(ns > (1 << 19) / m.costs.pageable_bytes_per_ns);
    m.gpu->load_module(std::as_bytes(std::span(large)));
    CHECK(m.gpu->finish() == Approx(static_cast<double>(large.size()) / m.costs.pageable_bytes_per_ns));
}

// Which requests wait for the device, which report its faults, and what they leave in memory.
#include "server/session_fixture.hpp"

using namespace warpgrade::server;
using namespace warpgrade::server::testing;

namespace {

enum class Copy { up, down, within, fill };

class WaitsFixture : public ServerFixture {
  public:
    DevicePtr address = allocate(64), other = allocate(64);
    FunctionId store = kernel("store_to");

    int copy(Copy what, bool blocking, StreamId stream = 0) {
        Writer request;
        Region::range(address, 16).put(request);
        if (what == Copy::within) Region::range(other, 16).put(request);
        if (what == Copy::fill) request.put(std::uint8_t{7});
        wire::Transfer{stream, blocking}.put(request);
        if (what == Copy::up) request.put(std::uint64_t{1}).put(std::uint64_t{2});
        const Op ops[] = {Op::write, Op::read, Op::copy, Op::fill};
        return call(ops[static_cast<int>(what)], request).status;
    }
    // A microsecond of work for each block, and whether it is over as far as the host can tell.
    void work(StreamId stream = 0, std::uint32_t blocks = 1000) {
        Writer request;
        request.put(store).put(blocks).put(1u).put(1u).put(32u).put(1u).put(1u);
        request.put(std::uint64_t{0}).put(stream).put(std::uint8_t{0}).put(address);
        REQUIRE(call(Op::launch, request).status == 0);
    }
    bool is_done(StreamId stream = 0) {
        const int status = call(Op::query_stream, Writer().put(stream)).status;
        CHECK((status == 0 || status == error::not_ready));
        return status == 0;
    }
    StreamId stream(bool blocking = true) {
        return call(Op::create_stream, Writer().put(std::uint8_t{blocking}).put(std::uint8_t{1})).first<StreamId>();
    }
    EventId event(bool timing = true) {
        return call(Op::create_event, Writer().put(std::uint8_t{timing})).first<EventId>();
    }
};

}  // namespace

TEST_CASE_METHOD(WaitsFixture, "a blocking copy waits for its stream, whatever its direction; another one does not") {
    for (const Copy what : {Copy::up, Copy::down, Copy::within, Copy::fill}) {
        for (const bool blocking : {false, true}) {
            CAPTURE(what, blocking);
            call(Op::synchronize_device);
            work();
            CHECK(copy(what, blocking) == 0);
            // Pageable memory of the host holds what came down when the call returns.
            CHECK(is_done() == (blocking || what == Copy::down));
        }
    }
}

TEST_CASE_METHOD(WaitsFixture, "a copy waits for its own stream alone") {
    const StreamId one = stream(false), two = stream(false);
    work(one);
    CHECK(copy(Copy::within, true, two) == 0);
    CHECK_FALSE(is_done(one));
    CHECK(copy(Copy::within, true, one) == 0);
    CHECK(is_done(one));
}

TEST_CASE_METHOD(WaitsFixture,
                 "a blocking copy reports a fault, an asynchronous one leaves it to the next that waits") {
    const Copy what = GENERATE(Copy::up, Copy::within, Copy::fill);
    CAPTURE(what);
    CHECK(launch(store, 1, DevicePtr{16}).status == 0);
    CHECK(copy(what, false) == 0);
    CHECK(copy(what, true) == error::illegal_address);
}

TEST_CASE_METHOD(WaitsFixture, "what waits for the device, a stream or an event, and what does not") {
    const StreamId one = stream(false), two = stream(false);
    const EventId early = event(), late = event();
    const auto done = [&](Op op, const Writer& request = {}) {
        call(Op::synchronize_device);
        call(Op::record_event, Writer().put(early).put(one));
        work(one), work(two), work(two);
        call(Op::record_event, Writer().put(late).put(one));
        CHECK(call(op, request).status == 0);
        return std::pair(is_done(one), is_done(two));
    };
    using Pair = std::pair<bool, bool>;
    CHECK(done(Op::synchronize_device) == Pair{true, true});
    CHECK(done(Op::synchronize_stream, Writer().put(one)) == Pair{true, false});
    CHECK(done(Op::synchronize_stream, Writer().put(two)) == Pair{true, true});  // whose work takes longer
    CHECK(done(Op::synchronize_event, Writer().put(early)) == Pair{false, false});
    CHECK(done(Op::synchronize_event, Writer().put(late)) == Pair{true, false});
    CHECK(done(Op::synchronize_event, Writer().put(event())) == Pair{false, false});  // never recorded
    CHECK(done(Op::free_memory, Writer().put(allocate(4))) == Pair{true, true});
    CHECK(done(Op::free_ordered, Writer().put(allocate(4)).put(one)) == Pair{false, false});
    CHECK(done(Op::memory_info) == Pair{false, false});
}

TEST_CASE_METHOD(WaitsFixture, "a stream waits for an event of another one, if it was recorded") {
    const StreamId one = stream(false), two = stream(false);
    const EventId of_one = event();
    const auto starts = [&] {
        judge.take();
        call(Op::synchronize_device);
        work(one, 100);
        call(Op::stream_wait_event, Writer().put(two).put(of_one));
        work(two, 100);
        call(Op::record_event, Writer().put(of_one).put(one));
        const auto launches = judge.take().at("launches");
        REQUIRE(launches.size() == 2);
        return launches[1].at("start_ns").get<double>() - launches[0].at("start_ns").get<double>();
    };
    CHECK(starts() < 1e5);
    CHECK(starts() < 1e5);  // what was recorded is what one had done in the round before
    work(one);
    call(Op::record_event, Writer().put(of_one).put(one));
    call(Op::stream_wait_event, Writer().put(two).put(of_one));
    judge.take();
    work(two);
    CHECK_FALSE(is_done(two));
    CHECK(call(Op::synchronize_event, Writer().put(of_one)).status == 0);
    CHECK_FALSE(is_done(two));
}

TEST_CASE_METHOD(WaitsFixture, "events that cannot be compared say why") {
    const EventId untimed = event(false), timed = event(), gone = event();
    const auto elapsed = [&](EventId a, EventId b) { return call(Op::elapsed_time, Writer().put(a).put(b)).status; };
    for (const EventId each : {untimed, timed}) call(Op::record_event, Writer().put(each).put(0u));
    call(Op::synchronize_device);
    CHECK(elapsed(timed, timed) == 0);
    CHECK(elapsed(timed, untimed) == error::invalid_resource_handle);
    CHECK(elapsed(untimed, timed) == error::invalid_resource_handle);
    CHECK(elapsed(timed, gone) == error::invalid_resource_handle);
    CHECK(call(Op::destroy_event, Writer().put(gone)).status == 0);
    CHECK(call(Op::record_event, Writer().put(gone).put(0u)).status != 0);
    CHECK(call(Op::destroy_event, Writer().put(gone)).status != 0);
}

TEST_CASE_METHOD(WaitsFixture, "a stream that is gone takes no work, and the default stream stays") {
    const StreamId one = stream();
    work(one);
    CHECK(call(Op::destroy_stream, Writer().put(one)).status == 0);
    CHECK(call(Op::query_stream, Writer().put(one)).status == error::invalid_resource_handle);
    CHECK(copy(Copy::fill, true, one) == error::invalid_resource_handle);
    CHECK(call(Op::destroy_stream, Writer().put(0u)).status == error::invalid_resource_handle);
    CHECK(is_done(0) == false);  // which waits for what the stream had
}

TEST_CASE_METHOD(WaitsFixture, "there may be as many streams as no program needs, and not one more") {
    std::vector<StreamId> made;
    int status = 0;
    for (;;) {
        const auto reply = call(Op::create_stream, Writer().put(std::uint8_t{1}).put(std::uint8_t{1}));
        if ((status = reply.status) != 0) break;
        made.push_back(reply.first<StreamId>());
    }
    CHECK(status == error::memory_allocation);
    CHECK(made.size() == 1023);  // the default stream is one as well
    CHECK(call(Op::destroy_stream, Writer().put(made[5])).status == 0);
    CHECK(call(Op::create_stream, Writer().put(std::uint8_t{1}).put(std::uint8_t{1})).status == 0);
    CHECK(call(Op::create_stream, Writer().put(std::uint8_t{1}).put(std::uint8_t{1})).status ==
          error::memory_allocation);
}

TEST_CASE_METHOD(WaitsFixture, "rows are copied within the device from pitch to pitch") {
    Writer up = transfer(Region::range(other, 64));
    for (std::uint8_t i = 0; i < 64; ++i) up.put(i);
    REQUIRE(call(Op::write, up).status == 0);
    const auto within = [&](const Region& destination, const Region& source) {
        Writer clear;
        Region::range(address, 64).put(clear);
        clear.put(std::uint8_t{0xEE});
        wire::Transfer{}.put(clear);
        CHECK(call(Op::fill, clear).status == 0);
        Writer request;
        destination.put(request), source.put(request);
        wire::Transfer{0, true}.put(request);
        return call(Op::copy, request).status;
    };
    const auto bytes = [&] {
        std::vector<int> found;
        for (const std::byte b : call(Op::read, transfer(Region::range(address, 64))).results)
            found.push_back(std::to_integer<int>(b));
        return found;
    };
    std::vector<int> expected(64, 0xEE);
    for (const int row : {0, 1, 2})
        for (const int i : {0, 1, 2, 3}) expected[static_cast<std::size_t>(8 * row + i)] = 16 * row + i;
    CHECK(within(Region{address, 8, 4, 3}, Region{other, 16, 4, 3}) == 0);
    CHECK(bytes() == expected);
    // One of the two without gaps.
    CHECK(within(Region{address, 4, 4, 3}, Region{other, 16, 4, 3}) == 0);
    CHECK(bytes()[4] == 16);
    CHECK(bytes()[12] == 0xEE);
    CHECK(within(Region{address, 16, 4, 3}, Region{other, 4, 4, 3}) == 0);
    CHECK(bytes()[16] == 4);
    CHECK(bytes()[4] == 0xEE);
    CHECK(within(Region{address, 4, 4, 3}, Region{other, 4, 4, 3}) == 0);
    CHECK(bytes()[11] == 11);
    CHECK(within(Region{address, 4, 4, 3}, Region{other, 4, 4, 2}) == error::invalid_value);
    CHECK(within(Region{address, 4, 4, 3}, Region{other, 4, 3, 4}) == error::invalid_value);
    CHECK(within(Region{address, 2, 4, 3}, Region{other, 4, 4, 3}) == error::invalid_value);
    CHECK(within(Region{address, 32, 4, 2}, Region{other, 32, 4, 2}) == 0);
    CHECK(within(Region{address, 61, 4, 2}, Region{other, 32, 4, 2}) == error::invalid_value);  // a byte past the end
    CHECK(within(Region{address, 60, 4, 2}, Region{other, 32, 4, 2}) == 0);
}

TEST_CASE_METHOD(WaitsFixture, "the judge is told when a program knew that its work was done") {
    work();
    call(Op::synchronize_device);
    const auto taken = judge.take();
    REQUIRE(taken.at("waits").size() == 1);
    CHECK(taken.at("waits")[0].get<double>() >= 1'000'000);
    CHECK(judge.take().at("waits").empty());
}

TEST_CASE_METHOD(WaitsFixture, "a launch into a stream that was never made is refused, and starts nothing") {
    Writer request;
    request.put(store).put(1u).put(1u).put(1u).put(32u).put(1u).put(1u);
    request.put(std::uint64_t{0}).put(StreamId{77}).put(std::uint8_t{0}).put(address);
    CHECK(call(Op::launch, request).status == error::invalid_resource_handle);
    const auto taken = judge.take();
    CHECK(taken.at("launches").empty());
    CHECK(taken.at("internal_error").is_null());
    CHECK(taken.at("connected") == true);
}

// Findings about work without an order between streams: the accesses of each call, and the messages.
#include "server/session_fixture.hpp"

using namespace warpgrade::server;
using namespace warpgrade::server::testing;

namespace {

constexpr std::uint64_t page = address_space::page_bytes;

class OrderFixture : public ServerFixture {
  public:
    using ServerFixture::ServerFixture;

    FunctionId store = kernel("store_to");
    DevicePtr target = allocate(4);
    StreamId one = stream(), two = stream();

    void at(std::uint64_t place) { code = place; }
    StreamId stream() {
        return call(Op::create_stream, Writer().put(std::uint8_t{0}).put(std::uint8_t{1})).first<StreamId>();
    }
    DevicePtr allocate_host(std::uint64_t bytes, const char* origin) {
        return call(Op::allocate_host, Writer().put(bytes).put(std::uint64_t{0}).put_string(origin)).first<DevicePtr>();
    }
    void launch_in(StreamId stream, std::vector<MemoryAccess> accesses) {
        device.next_accesses = std::move(accesses);
        Writer request;
        request.put(store).put(1u).put(1u).put(1u).put(32u).put(1u).put(1u);
        request.put(std::uint64_t{0}).put(stream).put(std::uint8_t{0}).put(target);
        REQUIRE(call(Op::launch, request).status == 0);
    }
    void writes(StreamId stream, DevicePtr address, std::uint64_t bytes) {
        launch_in(stream, {{address, bytes, MemoryUse::write}});
    }
    void fill(StreamId stream, const Region& region) {
        Writer request;
        region.put(request);
        wire::Transfer{stream, false}.put(request.put(std::uint8_t{0}));
        REQUIRE(call(Op::fill, request).status == 0);
    }
    // Between device memory and memory of both sides.
    void copy(Op op, StreamId stream, const Region& region, DevicePtr host, std::uint64_t host_pitch = 0,
              bool blocking = false) {
        Writer request;
        region.put(request);
        wire::Transfer{stream, blocking, host, host_pitch ? host_pitch : region.width}.put(request);
        REQUIRE(call(op, request).status == 0);
    }
    void copy_within(StreamId stream, DevicePtr to, DevicePtr from, std::uint64_t bytes) {
        Writer request;
        Region::range(to, bytes).put(request), Region::range(from, bytes).put(request);
        wire::Transfer{stream, false}.put(request);
        REQUIRE(call(Op::copy, request).status == 0);
    }
    nlohmann::json found() { return judge.take().at("diagnostics"); }
    // The message of the one thing that was found; none: "".
    std::string told() {
        const auto list = found();
        INFO(list.dump());
        REQUIRE(list.size() <= 1);
        return list.empty() ? "" : list[0].at("message").get<std::string>();
    }
    // What is told of work in stream two beside work in stream one.
    template <class Earlier, class Later>
    std::string beside(Earlier&& earlier, Later&& later) {
        call(Op::synchronize_device);
        found();
        earlier(), later();
        call(Op::synchronize_device);
        return told();
    }
};

const char* const waits = " may still be using it: nothing makes one wait for the other";

}  // namespace

TEST_CASE_METHOD(OrderFixture, "a race of two streams is told with both calls, once for each") {
    at(0x10);
    const DevicePtr memory = allocate(256), more = allocate(256);
    at(0x20);
    launch_in(one, {{memory, 64, MemoryUse::write}, {more, 64, MemoryUse::write}});
    at(0x30);
    launch_in(two, {{memory, 4, MemoryUse::read}, {more, 4, MemoryUse::read}});
    const auto list = found();
    REQUIRE(list.size() == 1);
    CHECK(list[0].at("rule") == "racecheck/stream");
    CHECK(list[0].at("message") == std::string("the kernel in stream 2 reads {memory} while kernel `store_to` in "
                                               "stream 1") +
                                       waits);
    CHECK(list[0].at("kernel") == "store_to");
    CHECK(list[0].at("place").at("code") == 0x30);
    CHECK(list[0].at("memory").at("allocated").at("code") == 0x10);
    REQUIRE(list[0].at("related").size() == 1);
    CHECK(list[0].at("related")[0].at("role") == "written by kernel `store_to`, issued");
    CHECK(list[0].at("related")[0].at("place").at("code") == 0x20);
}

TEST_CASE("without racecheck nothing is told of streams") {
    ServerOptions options;
    options.order_streams = false;
    OrderFixture session(options);
    const DevicePtr memory = session.allocate(64);
    session.writes(session.one, memory, 64), session.writes(session.two, memory, 64);
    session.fill(session.one, Region::range(memory, 64));
    CHECK(session.found().empty());
}

TEST_CASE("accesses are exact once there are two streams, or memory that host code uses as well") {
    ServerFixture session;
    CHECK_FALSE(session.device.exact_accesses);
    const auto allocate = [&](const char* call) {
        session.call(Op::allocate_host, Writer().put(std::uint64_t{4096}).put(std::uint64_t{0}).put_string(call));
        return session.device.exact_accesses;
    };
    CHECK_FALSE(allocate("cudaMallocHost"));
    CHECK(allocate("cudaMallocManaged"));
    session.call(Op::reset);
    CHECK_FALSE(session.device.exact_accesses);
    session.call(Op::create_stream, Writer().put(std::uint8_t{0}).put(std::uint8_t{1}));
    CHECK(session.device.exact_accesses);
}

TEST_CASE_METHOD(OrderFixture, "each kind of work in a race has its words") {
    const DevicePtr memory = allocate(256), other = allocate(256), host = allocate_host(256, "cudaMallocHost");
    const auto use = [&](StreamId stream, MemoryUse how) {
        return [this, stream, how, memory] { launch_in(stream, {{memory, 4, how}}); };
    };
    const std::string kernel = std::string(" {memory} while kernel `store_to` in stream 1") + waits;
    CHECK(beside(use(one, MemoryUse::read), use(two, MemoryUse::write)) == "the kernel in stream 2 writes" + kernel);
    CHECK(beside(use(one, MemoryUse::read), use(two, MemoryUse::atomic)) == "the kernel in stream 2 changes" + kernel);
    CHECK(beside(use(one, MemoryUse::atomic), use(0, MemoryUse::read)) ==
          "the kernel in the default stream reads" + kernel);
    CHECK(beside(use(one, MemoryUse::read), use(two, MemoryUse::read)).empty());
    const Region all = Region::range(memory, 256);
    const auto write = use(one, MemoryUse::write);
    CHECK(beside(write, [&] { fill(two, all); }) == "a cudaMemset in stream 2 writes" + kernel);
    CHECK(beside(write, [&] { copy(Op::write, two, all, host); }) ==
          "a copy to the device in stream 2 writes" + kernel);
    CHECK(beside(write, [&] { copy(Op::read, two, all, host); }) == "a copy to the host in stream 2 reads" + kernel);
    CHECK(beside(write, [&] { copy_within(two, other, memory, 4); }) ==
          "a copy within the device in stream 2 reads" + kernel);
    CHECK(beside(write, [&] { copy_within(two, memory, other, 4); }) ==
          "a copy within the device in stream 2 writes" + kernel);
    const auto after = [](const char* earlier) {
        return std::string("the kernel in stream 2 writes {memory} while ") + earlier + " in stream 1" + waits;
    };
    const auto late = use(two, MemoryUse::write);
    CHECK(beside([&] { fill(one, all); }, late) == after("a cudaMemset"));
    CHECK(beside([&] { copy(Op::write, one, all, host); }, late) == after("a copy to the device"));
    CHECK(beside([&] { copy(Op::read, one, all, host); }, late) == after("a copy to the host"));
    CHECK(beside([&] { copy_within(one, other, memory, 256); }, late) == after("a copy within the device"));
    CHECK(beside(write, [&] { call(Op::free_ordered, Writer().put(memory).put(two)); }) ==
          "a cudaFreeAsync in stream 2 frees" + kernel);
}

TEST_CASE_METHOD(OrderFixture, "what a race was with is said by how it used the memory") {
    const DevicePtr memory = allocate(256);
    const auto role = [&](MemoryUse earlier, MemoryUse later) {
        launch_in(one, {{memory, 4, earlier}});
        launch_in(two, {{memory, 4, later}});
        return found().at(0).at("related").at(0).at("role").get<std::string>();
    };
    CHECK(role(MemoryUse::read, MemoryUse::write) == "read by kernel `store_to`, issued");
    CHECK(role(MemoryUse::write, MemoryUse::write) == "written by kernel `store_to`, issued");
    CHECK(role(MemoryUse::atomic, MemoryUse::write) == "changed by kernel `store_to`, issued");
}

TEST_CASE_METHOD(OrderFixture, "copies of rows touch the rows alone, on the device and on the host") {
    const DevicePtr memory = allocate(1024), host = allocate_host(1024, "cudaMallocHost"), other = allocate(1024);
    const Region rows{memory, 64, 4, 3};
    const auto races = [&](DevicePtr address, std::uint64_t bytes) {
        return !beside([&] { copy(Op::read, one, rows, host, 100); }, [&] { writes(two, address, bytes); }).empty();
    };
    for (const std::uint64_t row : {0u, 1u, 2u}) {
        CAPTURE(row);
        CHECK(races(memory + 64 * row + 3, 1));
        CHECK_FALSE(races(memory + 64 * row + 4, 60));
        CHECK(races(host + 100 * row, 1));
        CHECK_FALSE(races(host + 100 * row + 4, 96));
    }
    CHECK_FALSE(races(memory + 192, 64));
    CHECK_FALSE(races(host + 300, 100));
    const auto touches = [&](bool writes, DevicePtr to) {
        return !beside([&] { copy(Op::read, one, Region::range(memory, 64), host); },
                       [&] { copy(writes ? Op::read : Op::write, two, Region::range(other, 64), to); })
                    .empty();
    };
    CHECK(touches(true, host));
    CHECK(touches(false, host));
    CHECK_FALSE(touches(true, host + 64));
    CHECK(beside([&] { copy(Op::write, one, Region::range(memory, 64), host); },
                 [&] { copy(Op::write, two, Region::range(other, 64), host); })
              .empty());  // both read it
}

TEST_CASE_METHOD(OrderFixture, "of very many rows the gaps count as well") {
    const DevicePtr memory = allocate(1 << 18);
    const auto races = [&](std::uint64_t height) {
        return !beside([&] { fill(one, {memory, 2, 1, height}); }, [&] { writes(two, memory + 1, 1); }).empty();
    };
    CHECK_FALSE(races(65536));
    CHECK(races(65537));
}

TEST_CASE_METHOD(OrderFixture, "what the host waits for is no race with what it issues then") {
    const DevicePtr memory = allocate(256), host = allocate_host(256, "cudaMallocHost");
    const Region all = Region::range(memory, 256);
    const EventId event = call(Op::create_event, Writer().put(std::uint8_t{1})).first<EventId>(),
                  start = call(Op::create_event, Writer().put(std::uint8_t{1})).first<EventId>();
    const auto order = [&](auto&& wait) {
        return beside(
                   [&] {
                       call(Op::record_event, Writer().put(start).put(one));
                       writes(one, memory, 4);
                       call(Op::record_event, Writer().put(event).put(one));
                   },
                   [&] { wait(), writes(two, memory, 4); })
            .empty();
    };
    const auto again = [&](Op op, const Writer& request) {
        while (call(op, request).status == error::not_ready) continue;
    };
    CHECK_FALSE(order([] {}));
    CHECK(order([&] { call(Op::synchronize_stream, Writer().put(one)); }));
    CHECK_FALSE(order([&] { call(Op::synchronize_stream, Writer().put(two)); }));
    CHECK(order([&] { again(Op::query_stream, Writer().put(one)); }));
    CHECK(order([&] { call(Op::synchronize_event, Writer().put(event)); }));
    CHECK_FALSE(order([&] { call(Op::synchronize_event, Writer().put(start)); }));
    CHECK(order([&] { again(Op::query_event, Writer().put(event)); }));
    CHECK(order([&] { again(Op::elapsed_time, Writer().put(start).put(event)); }));
    CHECK(order([&] { call(Op::stream_wait_event, Writer().put(two).put(event)); }));
    CHECK(order([&] { call(Op::free_memory, Writer().put(allocate(4))); }));
    CHECK(order([&] { copy(Op::read, one, all, host, 0, true); }));
    CHECK(order([&] {
        call(Op::destroy_event, Writer().put(start));
        call(Op::synchronize_device);
    }));
}

TEST_CASE_METHOD(OrderFixture, "page-locked memory that a copy fills is for the host when it has waited") {
    const DevicePtr memory = allocate(256), host = allocate_host(256, "cudaMallocHost");
    const auto down = [&] { copy(Op::read, one, Region::range(memory, 256), host); };
    const std::string but =
        ", but nothing has waited for a copy to the host in stream 1, which writes {memory}: host code may have read "
        "it too early";
    at(0x40);
    down();
    at(0x50);
    auto list = found();
    REQUIRE(list.size() == 1);
    CHECK(list[0].at("rule") == "racecheck/host");
    CHECK(list[0].at("message") == "the call ends" + but);
    CHECK(list[0].at("memory").at("bytes") == 256);
    CHECK(list[0].at("related").at(0).at("place").at("code") == 0x40);
    CHECK(told().empty());  // told once
    down();
    call(Op::synchronize_stream, Writer().put(one));
    CHECK(told().empty());
    copy(Op::write, one, Region::range(memory, 256), host);
    CHECK(told().empty());  // which only reads it
    down();
    call(Op::free_memory, Writer().put(allocate(4)));  // waits, but nobody has asked for that
    CHECK(told() == "the call ends" + but);
    down();
    call(Op::free_memory, Writer().put(host));
    CHECK(told() == "the memory is freed" + but);
}

TEST_CASE_METHOD(OrderFixture, "managed memory that a kernel writes is not for the host yet, page by page") {
    const DevicePtr managed = allocate_host(8 * page, "cudaMallocManaged");
    const auto running = [&] {
        std::vector<std::uint64_t> pages;
        const auto reply = call(Op::running_writes);
        wire::Reader in(reply.results);
        while (in.remaining()) pages.push_back((in.get<std::uint64_t>() - managed) / page);
        return pages;
    };
    using Pages = std::vector<std::uint64_t>;
    CHECK(running().empty());
    CHECK((call(Op::memory_info).flags & wire::flag_running) == 0);
    launch_in(one, {{managed + 10, 1, MemoryUse::write},
                    {managed + page - 1, 2, MemoryUse::write},
                    {managed + 3 * page, page, MemoryUse::atomic},
                    {managed + 5 * page, 8, MemoryUse::read},
                    {managed + 7 * page + 5, 1, MemoryUse::write}});
    CHECK((call(Op::memory_info).flags & wire::flag_running) != 0);
    CHECK(running() == Pages{0, 2, 3, 4, 7, 8});
    call(Op::synchronize_stream, Writer().put(one));
    CHECK(running().empty());
    CHECK((call(Op::memory_info).flags & wire::flag_running) == 0);
    found();
    device.kernels_talk_to_host = true;
    writes(one, managed, 4);
    CHECK(running().empty());
}

TEST_CASE_METHOD(OrderFixture, "host code that uses managed memory too early is told, once for each kernel and array") {
    at(0x10);
    const DevicePtr managed = allocate_host(page, "cudaMallocManaged"),
                    second = allocate_host(page, "cudaMallocManaged");
    const auto touch = [&](DevicePtr address, bool write = false) {
        call(Op::host_touches, Writer().put(address).put(std::uint64_t{0x77}).put(std::uint8_t{write}));
    };
    const auto early = [](const char* what) {
        return std::string("call cudaDeviceSynchronize() before the host ") + what +
               " {memory}: kernel `store_to` in stream 1, which writes it, may still be running";
    };
    touch(managed);
    CHECK(told().empty());
    at(0x60);
    writes(one, managed, 64);
    touch(managed + 64);
    touch(managed + 63);
    touch(managed);
    auto list = found();
    REQUIRE(list.size() == 1);
    CHECK(list[0].at("rule") == "racecheck/host");
    CHECK(list[0].at("message") == early("reads"));
    CHECK(list[0].at("place").at("code") == 0x77);
    CHECK(list[0].at("memory").at("allocated").at("code") == 0x10);
    CHECK(list[0].at("related").at(0).at("role") == "launched");
    CHECK(list[0].at("related").at(0).at("place").at("code") == 0x60);
    // Of the same array there is no more to tell when it is freed or the call ends; of another one there is.
    writes(one, managed, 64);
    touch(managed, true);
    CHECK(told() == early("writes to"));
    writes(one, second, 64);
    touch(second);
    call(Op::free_memory, Writer().put(second));
    CHECK(told() == early("reads"));
    const DevicePtr third = allocate_host(page, "cudaMallocManaged");
    writes(one, third, 64);
    call(Op::free_memory, Writer().put(third));
    CHECK(told().starts_with("the memory is freed, but nothing has waited for kernel `store_to` in stream 1"));
}

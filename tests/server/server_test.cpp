// The server with a correct client: memory, launches, faults, and the judge's reports.
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>

#include "server/session_fixture.hpp"
#include "support/approx.hpp"

using namespace warpgrade::server;
using namespace warpgrade::server::testing;

TEST_CASE_METHOD(ServerFixture, "hello tells worker and judge which device it is") {
    const auto reply = call(Op::hello, Writer().put(wire::version));
    wire::Reader reader(reply.results);
    CHECK(wire::get_properties(reader).name == "Fake H100");
    CHECK(judge.ask(R"({"op":"hello"})").at("properties").at("multi_processor_count") == 4);
}

TEST_CASE_METHOD(ServerFixture, "small and large transfers arrive whole") {
    const auto bytes =
        GENERATE(std::size_t{1}, std::size_t{1} << 20, (std::size_t{1} << 20) + 1, std::size_t{5'000'000});
    const DevicePtr address = allocate(bytes + 16);
    std::vector<std::byte> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 31 + i / 1000);
    Writer request = transfer(Region::range(address + 8, bytes));
    if (bytes <= wire::chunk_bytes) {
        CHECK(call(Op::write, request.put_bytes(data)).status == 0);
    } else {
        CHECK(call(Op::write, request).status == 0);
        for (std::size_t done = 0; done < bytes; done += wire::chunk_bytes)
            send_frame(Op::data, sequence, std::span(data).subspan(done, std::min(wire::chunk_bytes, bytes - done)));
        CHECK(receive().status == 0);
    }
    auto reply = call(Op::read, transfer(Region::range(address + 8, bytes)));
    CHECK(reply.status == 0);
    std::vector<std::byte> back = reply.results;
    while (back.size() < bytes) {
        const auto piece = receive();
        back.insert(back.end(), piece.results.begin(), piece.results.end());
    }
    CHECK(back == data);
}

TEST_CASE_METHOD(ServerFixture, "rows with a pitch are copied without what lies between") {
    const DevicePtr address = allocate(64);
    call(Op::fill, [&] {
        Writer request;
        Region::range(address, 64).put(request);
        request.put(std::uint8_t{0xEE});
        wire::Transfer{}.put(request);
        return request;
    }());
    Writer request = transfer(Region{address, 16, 4, 3});
    for (std::uint8_t i = 0; i < 12; ++i) request.put(i);
    CHECK(call(Op::write, request).status == 0);
    const auto all = call(Op::read, transfer(Region::range(address, 64))).results;
    CHECK(std::to_integer<int>(all[3]) == 3);
    CHECK(std::to_integer<int>(all[4]) == 0xEE);
    CHECK(std::to_integer<int>(all[16]) == 4);
    CHECK(std::to_integer<int>(all[35]) == 11);
    CHECK(std::to_integer<int>(all[36]) == 0xEE);
    CHECK(call(Op::read, transfer(Region{address, 16, 4, 3})).results.size() == 12);
}

TEST_CASE_METHOD(ServerFixture, "ranges outside an allocation are refused and explained") {
    const DevicePtr address = allocate(100);
    const auto reply = call(Op::read, transfer(Region::range(address + 90, 20)));
    CHECK(reply.status == error::invalid_value);
    CHECK(wire::Reader(reply.results).get_string().find("10 bytes past its end") != std::string::npos);
    CHECK(call(Op::read, transfer(Region::range(12345, 4))).status == error::invalid_value);
    CHECK(call(Op::read, transfer(Region::range(address, UINT64_MAX))).status == error::invalid_value);
    CHECK(call(Op::read, transfer(Region{address, UINT64_MAX, 4, UINT64_MAX})).status == error::invalid_value);
    CHECK(call(Op::free_memory, Writer().put(address)).status == 0);
    CHECK(call(Op::free_memory, Writer().put(address)).status == error::invalid_value);
    CHECK(call(Op::read, transfer(Region::range(address, 4))).status == error::invalid_value);
    const auto taken = judge.take();
    CHECK(taken.at("call_errors").size() == 6);
    CHECK(taken.at("last_error").at("code") == error::invalid_value);
}

TEST_CASE_METHOD(ServerFixture, "a launch becomes a record with its place on the clock") {
    const DevicePtr address = allocate(400);
    const FunctionId vecadd = kernel("_Z6vecaddPKfS0_Pfi");
    CHECK(launch(vecadd, 7, address, address, address, 10).status == 0);
    CHECK(launch(vecadd, 3, address, address, address, 10).status == 0);
    const auto taken = judge.take();
    REQUIRE(taken.at("launches").size() == 2);
    CHECK(taken.at("launches")[0].at("grid")[0] == 7);
    CHECK(taken.at("launches")[0].at("duration_ns") == 7000);
    CHECK(taken.at("launches")[1].at("start_ns").get<double>() >= 7000);
    CHECK(taken.at("clock_ns").get<double>() >= 10000);
    CHECK(judge.take().at("launches").empty());
    CHECK(judge.take().at("clock_ns") == 0);
}

TEST_CASE_METHOD(ServerFixture, "a launch that shares the device is as long as it then takes") {
    const DevicePtr address = allocate(400);
    const FunctionId vecadd = kernel("_Z6vecaddPKfS0_Pfi");
    device.needs_all_of_dram = true;
    for (int i = 0; i < 2; ++i) {
        const auto stream =
            call(Op::create_stream, Writer().put(std::uint8_t{0}).put(std::uint8_t{1})).first<StreamId>();
        Writer request;
        request.put(vecadd).put(100u).put(1u).put(1u).put(32u).put(1u).put(1u);
        request.put(std::uint64_t{0}).put(stream).put(std::uint8_t{0});
        request.put(address).put(address).put(address).put(10);
        CHECK(call(Op::launch, request).status == 0);
    }
    const auto launches = judge.take().at("launches");
    const double start_ns = launches[0].at("start_ns");
    CHECK(launches[0].at("duration_ns") == 100'000);
    CHECK(launches[1].at("start_ns").get<double>() < start_ns + 100'000);
    CHECK(launches[1].at("start_ns").get<double>() + launches[1].at("duration_ns").get<double>() ==
          Approx(start_ns + 200'000).epsilon(1e-6));
}

TEST_CASE_METHOD(ServerFixture, "a device that cannot be right is the grader's error, and no test's") {
    const DevicePtr address = allocate(4);
    const FunctionId store = kernel("store_to");
    const char* told = "an impossible duration";
    SECTION("no number") { device.block_ns = std::nan(""); }
    SECTION("endless") { device.block_ns = std::numeric_limits<double>::infinity(); }
    SECTION("backwards") { device.block_ns = -1; }
    SECTION("no record") { device.forgets_launches = true, told = "without exactly one record"; }
    const auto reply = launch(store, 1, address);
    CHECK(reply.status == error::unknown);
    CHECK((reply.flags & wire::flag_sticky) != 0);
    const auto found = judge.take();
    CHECK(found.at("internal_error").get<std::string>().find(told) != std::string::npos);
    CHECK(found.at("launches").empty());
    CHECK(call(Op::memory_info).status == error::unknown);
}

TEST_CASE_METHOD(ServerFixture,
                 "what ends a device that works by itself is the error of that call and of all after it") {
    const DevicePtr address = allocate(4);
    device.breaks = true;
    const auto reply = call(Op::read, transfer(Region::range(address, 4)));
    CHECK(reply.status == error::launch_failure);
    CHECK((reply.flags & wire::flag_sticky) != 0);
    device.breaks = false;
    for (const Op op : {Op::memory_info, Op::synchronize_device}) {
        const auto later = call(op);
        CHECK(later.status == error::launch_failure);
        CHECK((later.flags & wire::flag_sticky) != 0);
    }
    const auto errors = judge.take().at("call_errors");
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].at("message") == "a kernel before it failed");
}

TEST_CASE_METHOD(ServerFixture, "a wrong launch configuration fails that call only") {
    const FunctionId store = kernel("store_to");
    const DevicePtr address = allocate(4);
    CHECK(launch(store, 0, address).status == error::invalid_configuration);
    CHECK(launch(store, 1, address).status == 0);
    CHECK(call(Op::synchronize_device).status == 0);
    CHECK(judge.take().at("launches").size() == 1);
}

TEST_CASE_METHOD(ServerFixture, "dynamic shared memory beyond the default must be asked for") {
    const FunctionId reverse = kernel("reverse");
    const DevicePtr address = allocate(4);
    const auto with = [&](std::uint64_t bytes) {
        Writer request;
        request.put(reverse).put(1u).put(1u).put(1u).put(32u).put(1u).put(1u);
        request.put(bytes).put(StreamId{0}).put(std::uint8_t{0}).put(address).put(1);
        return call(Op::launch, request).status;
    };
    const auto allow = [&](std::uint64_t bytes) {
        return call(Op::set_dynamic_shared, Writer().put(reverse).put(bytes)).status;
    };
    CHECK(with(49152) == 0);
    CHECK(with(49153) == error::invalid_value);
    CHECK(allow(232449) == error::invalid_value);
    CHECK(allow(100000) == 0);
    CHECK(with(100000) == 0);
    CHECK(with(100001) == error::invalid_value);
}

TEST_CASE_METHOD(ServerFixture, "a fault is reported by the next call that waits, and by every later one") {
    const FunctionId store = kernel("store_to");
    const DevicePtr address = allocate(4);
    const auto memory = transfer(Region::range(address, 4), false);
    CHECK(launch(store, 1, DevicePtr{16}).status == 0);  // the host does not know yet
    CHECK(launch(store, 1, address).status == 0);        // queued behind it: never runs
    CHECK(call(Op::write, Writer(memory).put(9)).status == 0);
    CHECK(call(Op::memory_info).status == 0);
    const auto reply = call(Op::synchronize_device);
    CHECK(reply.status == error::illegal_address);
    CHECK((reply.flags & wire::flag_sticky) != 0);
    CHECK(call(Op::allocate, Writer().put(std::uint64_t{4}).put_string("")).status == error::illegal_address);
    CHECK(call(Op::memory_info).status == error::illegal_address);
    CHECK(call(Op::synchronize_device).status == error::illegal_address);
    CHECK(call(Op::hello, Writer().put(wire::version)).status == 0);
    int value = 0;
    device.read(address, std::as_writable_bytes(std::span(&value, 1)));
    CHECK(value == 0);
    const auto taken = judge.take();
    REQUIRE(taken.at("launches").size() == 1);
    CHECK(taken.at("launches")[0].at("error").at("code") == error::illegal_address);
    CHECK(taken.at("last_error").at("code") == error::illegal_address);
    CHECK(taken.at("call_errors").size() == 1);
    CHECK(taken.at("internal_error").is_null());
}

TEST_CASE_METHOD(ServerFixture, "a large asynchronous write behind a fault is swallowed") {
    const DevicePtr address = allocate(3 << 20);
    CHECK(launch(kernel("store_to"), 1, DevicePtr{16}).status == 0);
    CHECK(call(Op::write, transfer(Region::range(address, 3 << 20), false)).status == 0);
    const std::vector<std::byte> piece(wire::chunk_bytes, std::byte{1});
    for (int i = 0; i < 3; ++i) send_frame(Op::data, sequence, piece);
    CHECK(receive().status == 0);
    CHECK(call(Op::query_stream, Writer().put(0u)).status == error::illegal_address);
}

TEST_CASE_METHOD(ServerFixture, "printed text goes to the worker and to the judge") {
    CHECK((launch(kernel("say"), 1, 42).flags & wire::flag_output) != 0);
    CHECK(wire::Reader(call(Op::take_output).results).get_string() == "said 42\n");
    CHECK(call(Op::synchronize_device).flags == 0);
    CHECK(judge.take().at("output") == "said 42\n");
}

TEST_CASE_METHOD(ServerFixture, "events measure kernels in modelled time") {
    const DevicePtr address = allocate(4);
    const FunctionId store = kernel("store_to");
    const auto start = call(Op::create_event, Writer().put(std::uint8_t{1})).first<EventId>();
    const auto end = call(Op::create_event, Writer().put(std::uint8_t{1})).first<EventId>();
    const auto elapsed = [&] { return call(Op::elapsed_time, Writer().put(start).put(end)); };
    CHECK(elapsed().status == error::invalid_resource_handle);  // never recorded
    call(Op::record_event, Writer().put(start).put(0u));
    launch(store, 1000, address);
    call(Op::record_event, Writer().put(end).put(0u));
    CHECK(elapsed().status == error::not_ready);
    CHECK(call(Op::query_event, Writer().put(end)).status == error::not_ready);
    CHECK(call(Op::synchronize_event, Writer().put(end)).status == 0);
    CHECK(call(Op::query_event, Writer().put(end)).status == 0);
    CHECK(elapsed().first<double>() == Approx(1'000'000).epsilon(0.01));
    CHECK(judge.take().at("call_errors").size() == 1);  // not being ready is no error
}

TEST_CASE_METHOD(ServerFixture, "reset gives everything back") {
    allocate(100), allocate(100);
    const FunctionId store = kernel("store_to");
    CHECK(device.live_allocations() == 3);  // with the module's variable
    CHECK(call(Op::reset).status == 0);
    CHECK(device.live_allocations() == 0);
    CHECK(launch(store, 1, DevicePtr{0}).status == error::invalid_device_function);
}

TEST_CASE_METHOD(ServerFixture, "the judge takes the records after the worker has gone") {
    const DevicePtr address = allocate(4);
    CHECK(launch(kernel("store_to"), 1, address).status == 0);
    hang_up();
    CHECK(judge.take().at("launches").size() == 1);
    CHECK(judge.take().at("launches").empty());
}

TEST_CASE_METHOD(ServerFixture, "requests that are not waited for are done in order, and answered") {
    const DevicePtr address = allocate(4), other = allocate(4);
    const FunctionId store = kernel("store_to");
    std::vector<std::byte> bytes;
    const auto post = [&](Op op, const Writer& request) {
        wire::Header header;
        header.op = op;
        header.sequence = ++sequence;
        header.size = static_cast<std::uint32_t>(request.bytes().size());
        const auto first = std::as_bytes(std::span(&header, 1));
        bytes.insert(bytes.end(), first.begin(), first.end());
        bytes.insert(bytes.end(), request.bytes().begin(), request.bytes().end());
    };
    const Writer write = transfer(Region::range(address, 4));
    for (int i = 0; i < 3; ++i) post(Op::write, Writer(write).put(7 + i));
    post(Op::free_memory, Writer().put(other));
    post(Op::free_memory, Writer().put(other));
    post(Op::launch, Writer()
                         .put(store)
                         .put(1u)
                         .put(1u)
                         .put(1u)
                         .put(32u)
                         .put(1u)
                         .put(1u)
                         .put(std::uint64_t{0})
                         .put(StreamId{0})
                         .put(std::uint8_t{0})
                         .put(address));
    post(Op::read, transfer(Region::range(address, 4)));
    judge.take();
    send_raw(bytes);
    for (int i = 0; i < 4; ++i) CHECK(receive().status == 0);
    CHECK(receive().status == error::invalid_value);
    CHECK(receive().status == 0);
    CHECK(receive().first<int>() == 1);
    const auto taken = judge.take();
    CHECK(taken.at("transfers").size() == 4);
    CHECK(taken.at("launches").size() == 1);
    CHECK(taken.at("call_errors").size() == 1);
}

TEST_CASE_METHOD(ServerFixture, "launches beyond the journal's size are refused, not forgotten") {
    const DevicePtr address = allocate(4);
    const FunctionId store = kernel("store_to");
    int status = 0;
    std::size_t launched = 0;
    while ((status = launch(store, 1, address).status) == 0) ++launched;
    CHECK(launched == RecordLimits::max_launches);
    CHECK(status == error::launch_out_of_resources);
    CHECK(judge.take().at("launches").size() == launched);
    CHECK(launch(store, 1, address).status == 0);
}

TEST_CASE_METHOD(ServerFixture, "control requests that make no sense get an error") {
    CHECK(judge.ask("nonsense").at("ok") == false);
    CHECK(judge.ask("[]").at("ok") == false);
    CHECK(judge.ask(R"({"op":7})").at("ok") == false);
    CHECK(judge.ask(R"({"op":"dance"})").at("ok") == false);
    CHECK(judge.ask(R"({"op":"order","order":"dance"})").at("ok") == false);
    CHECK(judge.ask(R"({"op":"order","order":7})").at("ok") == false);
    CHECK(judge.ask(R"({"op":"order","order":"reverse"})").at("ok") == true);
    CHECK(judge.take().at("ok") == true);
}

TEST_CASE_METHOD(ServerFixture, "a server that nobody asks for anything sleeps") {
    call(Op::memory_info);
    judge.take();
    const auto used = std::clock();  // of all threads
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    CHECK(std::clock() - used < CLOCKS_PER_SEC / 20);
}

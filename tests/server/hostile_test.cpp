// A client that breaks the protocol gets an error reply or a closed connection, and the judge still gets its answers.
#include <random>

#include "device/address_space.hpp"
#include "server/session_fixture.hpp"

using namespace warpgrade::server;
using namespace warpgrade::server::testing;

namespace {

class HostileFixture : public ServerFixture {
  public:
    ~HostileFixture() {
        const auto taken = judge.take();
        CHECK(taken.at("ok") == true);
        CHECK(taken.at("internal_error").is_null());
    }
    static void add_frame(std::vector<std::byte>& bytes, Op op, std::uint32_t number) {
        wire::Header header;
        header.op = op;
        header.sequence = number;
        const auto more = std::as_bytes(std::span(&header, 1));
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    void check_closed_with_reason() {
        CHECK(is_closed());
        const auto taken = judge.take();
        REQUIRE(taken.at("call_errors").size() >= 1);
        CHECK(taken.at("call_errors").back().at("operation") == "protocol");
    }
};

}  // namespace

TEST_CASE_METHOD(HostileFixture, "bytes that are no frame end the connection") {
    const std::vector<std::byte> noise(100, std::byte{0x5A});
    send_raw(noise);
    check_closed_with_reason();
}

TEST_CASE_METHOD(HostileFixture, "a frame that claims to be huge ends the connection before it is read") {
    wire::Header header;
    header.sequence = 1;
    header.size = 0xFFFFFFF0;
    send_raw(std::as_bytes(std::span(&header, 1)));
    check_closed_with_reason();
}

TEST_CASE_METHOD(HostileFixture, "an unknown operation ends the connection") {
    send_frame(static_cast<Op>(9999), 1, {});
    check_closed_with_reason();
}

TEST_CASE_METHOD(HostileFixture, "half a frame does not keep the judge waiting") {
    wire::Header header;
    header.sequence = 1;
    header.size = 1000;
    send_raw(std::as_bytes(std::span(&header, 1)).first(7));
    CHECK(judge.take().at("ok") == true);
    send_raw(std::as_bytes(std::span(&header, 1)).subspan(7));
    CHECK(judge.take().at("ok") == true);
    hang_up();
}

TEST_CASE_METHOD(HostileFixture, "requests that come together are answered one by one") {
    std::vector<std::byte> bytes;
    for (int i = 0; i < 500; ++i) add_frame(bytes, Op::memory_info, ++sequence);
    add_frame(bytes, Op::memory_info, sequence + 7);  // out of order; the next frame would be in order
    add_frame(bytes, Op::memory_info, sequence + 1);
    send_raw(bytes);
    for (int i = 0; i < 500; ++i) REQUIRE(receive().status == 0);
    check_closed_with_reason();
}

TEST_CASE_METHOD(HostileFixture, "bytes behind a request that are no frame end the connection once it is answered") {
    std::vector<std::byte> bytes;
    add_frame(bytes, Op::memory_info, ++sequence);
    bytes.resize(bytes.size() + sizeof(wire::Header), std::byte{0x5A});
    send_raw(bytes);
    CHECK(receive().status == 0);
    check_closed_with_reason();
}

TEST_CASE_METHOD(HostileFixture, "half a request behind a whole one keeps nobody waiting") {
    std::vector<std::byte> bytes;
    add_frame(bytes, Op::memory_info, ++sequence);
    const std::size_t whole = bytes.size();
    add_frame(bytes, Op::memory_info, ++sequence);
    const std::size_t cut = GENERATE(std::size_t{1}, std::size_t{23});
    send_raw(std::span(bytes).first(whole + cut));
    CHECK(receive().status == 0);
    CHECK(judge.take().at("connected") == true);
    SECTION("the rest comes") {
        send_raw(std::span(bytes).subspan(whole + cut));
        CHECK(receive().status == 0);
    }
    SECTION("the rest never comes") {
        hang_up();
        CHECK(judge.take().at("connected") == false);
    }
}

TEST_CASE_METHOD(HostileFixture, "a client that never stops does not keep the judge waiting") {
    std::vector<std::byte> bytes;
    for (int i = 0; i < 300; ++i) add_frame(bytes, Op::memory_info, ++sequence);
    send_raw(bytes);
    for (int i = 0; i < 20; ++i) CHECK(judge.take().at("ok") == true);
    for (int i = 0; i < 300; ++i) REQUIRE(receive().status == 0);
}

TEST_CASE_METHOD(HostileFixture, "a client that does not read its answer does not keep the judge waiting") {
    const DevicePtr address = allocate(32 << 20);
    send_frame(Op::read, ++sequence, transfer(Region::range(address, 32 << 20)).bytes());
    CHECK(judge.take().at("ok") == true);
    CHECK(judge.take().at("ok") == true);
    hang_up();
}

TEST_CASE_METHOD(HostileFixture, "every operation survives an empty, a short and a long payload") {
    const auto op = GENERATE(range(std::size_t{0}, wire::ops.size()));
    const auto size = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{17}, std::size_t{4096});
    const auto fill = GENERATE(std::byte{0}, std::byte{1}, std::byte{0xFF});
    send_frame(static_cast<Op>(op), 1, std::vector<std::byte>(size, fill));
    try {
        receive();
    } catch (const std::exception&) {
        hang_up();  // the server closed the connection
    }
}

TEST_CASE_METHOD(HostileFixture, "handles that were never given out are refused") {
    for (const std::uint32_t handle : {1u, 77u, 0xFFFFFFFFu}) {
        CHECK(call(Op::synchronize_stream, Writer().put(handle)).status == error::invalid_resource_handle);
        CHECK(call(Op::destroy_stream, Writer().put(handle)).status == error::invalid_resource_handle);
        CHECK(call(Op::query_event, Writer().put(handle)).status == error::invalid_resource_handle);
        CHECK(call(Op::destroy_event, Writer().put(handle)).status == error::invalid_resource_handle);
        CHECK(call(Op::unload_module, Writer().put(handle)).status == error::invalid_resource_handle);
        CHECK(call(Op::find_function, Writer().put(handle).put_string("x")).status == error::invalid_resource_handle);
        CHECK(launch(handle, 1).status == error::invalid_device_function);
    }
    CHECK(call(Op::destroy_stream, Writer().put(0u)).status == error::invalid_resource_handle);
    CHECK(call(Op::set_limit, Writer().put(std::uint8_t{3}).put(std::uint64_t{1})).status == error::unsupported_limit);
}

TEST_CASE_METHOD(HostileFixture, "arguments of the wrong size never reach a kernel") {
    const FunctionId store = kernel("store_to");
    CHECK(launch(store, 1).status == error::invalid_value);
    CHECK(launch(store, 1, std::uint64_t{0}, std::uint64_t{0}).status == error::invalid_value);
    CHECK(judge.take().at("launches").empty());
}

TEST_CASE_METHOD(HostileFixture, "requests out of order end the connection") {
    sequence = 5;
    send_frame(Op::memory_info, 7, {});
    check_closed_with_reason();
}

TEST_CASE_METHOD(HostileFixture, "a request in the middle of a transfer ends the connection") {
    const DevicePtr address = allocate(4 << 20);
    CHECK(call(Op::write, transfer(Region::range(address, 4 << 20))).status == 0);
    send_frame(Op::memory_info, ++sequence, {});
    check_closed_with_reason();
}

TEST_CASE_METHOD(HostileFixture, "pieces of the wrong size or of no transfer end the connection") {
    SECTION("no transfer") { send_frame(Op::data, 1, std::vector<std::byte>(10)); }
    SECTION("too small") {
        const DevicePtr address = allocate(4 << 20);
        CHECK(call(Op::write, transfer(Region::range(address, 4 << 20))).status == 0);
        send_frame(Op::data, sequence, std::vector<std::byte>(10));
    }
    SECTION("of another request") {
        const DevicePtr address = allocate(4 << 20);
        CHECK(call(Op::write, transfer(Region::range(address, 4 << 20))).status == 0);
        send_frame(Op::data, sequence - 1, std::vector<std::byte>(wire::chunk_bytes));
    }
    SECTION("a small transfer without its data") {
        const DevicePtr address = allocate(64);
        send_frame(Op::write, ++sequence, transfer(Region::range(address, 64)).bytes());
    }
    check_closed_with_reason();
}

TEST_CASE_METHOD(HostileFixture, "a module that claims to be huge is refused without memory for it") {
    CHECK(call(Op::load_module, Writer().put(std::uint64_t{1} << 40)).status == error::device_kernel_image_is_invalid);
    CHECK(call(Op::load_module, Writer().put(std::uint64_t{60} << 20)).status == 0);  // announced, never sent
    hang_up();
}

TEST_CASE_METHOD(HostileFixture, "modules are bounded, and unloading makes room") {
    const auto load = [&] { return call(Op::load_module, Writer().put(std::uint64_t{1}).put(std::uint8_t{1})); };
    ModuleId last = 0;
    int count = 0;
    Reply reply;
    for (reply = load(); reply.status == 0 && count < 5000; reply = load()) last = reply.first<ModuleId>(), ++count;
    CHECK(count == 1024);
    CHECK(reply.status == error::memory_allocation);
    CHECK(call(Op::unload_module, Writer().put(last)).status == 0);
    CHECK(load().status == 0);
}

TEST_CASE_METHOD(HostileFixture, "streams and events are bounded") {
    int status = 0;
    for (int i = 0; i < 5000 && status == 0; ++i)
        status = call(Op::create_stream, Writer().put(std::uint8_t{1}).put(std::uint8_t{1})).status;
    CHECK(status == error::memory_allocation);
}

TEST_CASE_METHOD(HostileFixture, "memory to share is refused where it must not lie") {
    namespace space = address_space;
    const auto share = [&](std::uint64_t bytes, std::uint64_t at) {
        return call(Op::allocate_host, Writer().put(bytes).put(at).put_string("test")).status;
    };
    constexpr std::uint64_t page = space::page_bytes, host = 0x7F00'0000'0000;
    CHECK(share(0, 0) == error::memory_allocation);
    CHECK(share(~std::uint64_t{0}, 0) == error::memory_allocation);
    CHECK(share(std::uint64_t{1} << 41, 0) == error::memory_allocation);
    CHECK(share(page, host + 1) == error::invalid_value);
    CHECK(share(page, ~(page - 1)) == error::invalid_value);
    CHECK(share(2 * page, space::user_end - page) == error::invalid_value);
    CHECK(share(2 * page, space::shared_base - page) == error::invalid_value);
    for (const std::uint64_t inside :
         {space::shared_base, space::local_base, space::global_base, space::host_base, space::host_end - page})
        CHECK(share(page, inside) == error::invalid_value);
    CHECK(share(page, host) == 0);
    CHECK(share(page, host) == error::invalid_value);
    CHECK(call(Op::free_memory, Writer().put(host)).status == 0);
    CHECK(call(Op::free_memory, Writer().put(host)).status == error::invalid_value);
    CHECK(share(page, host) == 0);
    CHECK(call(Op::share_symbol, Writer().put(77u).put_string("x")).status == error::invalid_resource_handle);
}

TEST_CASE_METHOD(HostileFixture, "a client that ignores the files it gets does not keep the server's") {
    for (int i = 0; i < 600; ++i)
        REQUIRE(call(Op::allocate_host, Writer().put(std::uint64_t{1}).put(std::uint64_t{0}).put_string("")).status ==
                0);
}

TEST_CASE_METHOD(HostileFixture, "what a client claims to have read too early is checked, and bounded") {
    const DevicePtr memory = allocate(4096);
    const auto claim = [](Writer& request, DevicePtr address) {
        request.put(address).put(std::uint64_t{0x10}).put(std::uint8_t{0});
    };
    Writer request;
    for (const DevicePtr address : {DevicePtr{0}, memory, address_space::host_base, ~DevicePtr{0}})
        claim(request, address);
    CHECK(call(Op::host_touches, request).status == 0);
    CHECK(call(Op::running_writes).results.empty());
    CHECK(judge.take().at("diagnostics").empty());
    Writer more;
    for (int i = 0; i < 64; ++i) claim(more, memory);
    CHECK(call(Op::host_touches, more).status == 0);
    claim(more, memory);
    send_frame(Op::host_touches, ++sequence, more.bytes());
    CHECK(is_closed());
}

TEST_CASE_METHOD(HostileFixture, "random requests never break the server") {
    std::mt19937 random(GENERATE(range(0u, 400u)));
    const DevicePtr address = allocate(4096);
    const FunctionId store = kernel("store_to");
    // Mostly small numbers and real addresses, so that many requests get past the first checks.
    const auto number = [&]() -> std::uint64_t {
        switch (random() % 6) {
            case 0:
                return address + random() % 5000;
            case 1:
                return random() % 4096;
            case 2:
                return (std::uint64_t{random()} << 32) | random();
            case 3:
                return store;
            default:
                return random() % 3;
        }
    };
    try {
        for (int i = 0; i < 200; ++i) {
            const auto op = static_cast<Op>(random() % wire::ops.size());
            Writer request;
            const int fields = static_cast<int>(random() % 8);
            for (int f = 0; f < fields; ++f) {
                const std::uint64_t value = number();
                if (random() % 2 == 0)
                    request.put(value);
                else
                    request.put(static_cast<std::uint32_t>(value));
            }
            if (random() % 2 == 0) request.put(std::uint8_t{1}).put(std::uint8_t{0});
            call(op, request);
        }
    } catch (const std::exception&) {
        hang_up();  // the server closed the connection, or sent a piece of a large read
    }
}

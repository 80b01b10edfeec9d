// Findings about mistakes in the host's calls and at the program's end.
#include "server/session_fixture.hpp"

using namespace warpgrade::server;
using namespace warpgrade::server::testing;

namespace {

class DiagnoseFixture : public ServerFixture {
  public:
    // From now on the program calls from here.
    void at(std::uint64_t place) { code = place; }
    DevicePtr allocate_at(std::uint64_t place, std::uint64_t bytes, const char* origin = "cudaMalloc") {
        at(place);
        return call(Op::allocate, Writer().put(bytes).put_string(origin)).first<DevicePtr>();
    }
    // Findings since the last time; with `only`, there must be exactly one.
    nlohmann::json found() { return judge.take().at("diagnostics"); }
    nlohmann::json only() {
        const auto list = found();
        INFO(list.dump());
        REQUIRE(list.size() == 1);
        return list[0];
    }
    // Findings when the connection ends.
    nlohmann::json end() {
        hang_up();
        return found();
    }
};

}  // namespace

TEST_CASE_METHOD(DiagnoseFixture, "memory freed twice is told with both calls and the allocation") {
    const DevicePtr address = allocate_at(0x10, 1024);
    at(0x20);
    CHECK(call(Op::free_memory, Writer().put(address)).status == 0);
    at(0x30);
    const Op op = GENERATE(Op::free_memory, Op::free_ordered, Op::refused_free);
    Writer request = Writer().put(address);
    if (op == Op::free_ordered) request.put(StreamId{0});
    call(op, request);
    const auto it = only();
    CHECK(it.at("rule") == "memcheck/double-free");
    CHECK(it.at("message") == "frees {memory} again");
    CHECK(it.at("place").at("code") == 0x30);
    CHECK(it.at("related").at(0).at("role") == "freed");
    CHECK(it.at("related").at(0).at("place").at("code") == 0x20);
    CHECK(it.at("memory").at("bytes") == 1024);
    CHECK(it.at("memory").at("allocated").at("code") == 0x10);
}

TEST_CASE_METHOD(DiagnoseFixture, "what cannot be freed is told") {
    const DevicePtr address = allocate_at(0x10, 1024, "cudaHostAlloc");
    const auto free = [&](Op op, DevicePtr what) {
        call(op, Writer().put(what));
        const auto it = only();
        CHECK(it.at("rule") == "memcheck/bad-free");
        return it.at("message").get<std::string>();
    };
    CHECK(free(Op::free_memory, address + 256) == "frees an address 256 bytes past the start of {memory}");
    CHECK(free(Op::refused_free, address) == "frees {memory}, which must be freed with cudaFreeHost");
    CHECK(free(Op::free_memory, 0x5555'0000'1000) ==
          "frees 0x555500001000, which is host memory not allocated by CUDA");
    CHECK(free(Op::free_memory, address_space::global_end - 64) == "frees 0x77fffffffc0, where nothing was allocated");
}

TEST_CASE_METHOD(DiagnoseFixture, "copies and fills beyond an allocation are told in numbers") {
    const DevicePtr address = allocate_at(0x10, 1024);
    at(0x20);
    CHECK(call(Op::write, transfer(Region::range(address, 4096)).put_bytes(std::vector<std::byte>(4096))).status ==
          error::invalid_value);
    auto it = only();
    CHECK(it.at("rule") == "memcheck/copy-out-of-bounds");
    CHECK(it.at("message") == "copies 4,096 bytes to {memory}, which has 1,024 bytes");
    CHECK(it.at("place").at("code") == 0x20);
    CHECK(it.at("memory").at("allocated").at("code") == 0x10);

    call(Op::read, transfer(Region::range(address + 1000, 25)));
    CHECK(only().at("message") == "copies 25 bytes from offset 1000 of {memory}, which has 1,024 bytes");
    call(Op::read, transfer(Region::range(address, static_cast<std::uint64_t>(-4))));
    CHECK(only().at("message") == "copies -4 bytes from {memory}, which has 1,024 bytes");
    const auto fill = [&](DevicePtr where) {
        Writer request;
        Region::range(where, 1025).put(request);
        wire::Transfer{}.put(request.put(std::uint8_t{0}));
        CHECK(call(Op::fill, request).status == error::invalid_value);
        return only();
    };
    CHECK(fill(address).at("message") == "sets 1,025 bytes of {memory}, which has 1,024 bytes");
    CHECK(fill(0x5555'0000'1000).at("rule") == "memcheck/copy-direction");
    CHECK(call(Op::refused_copy,
               Writer().put(address).put(std::uint64_t{8}).put(std::uint64_t{1020}).put(std::uint8_t{1}))
              .status == 0);
    CHECK(only().at("message") == "copies 1,020 bytes to offset 8 of {memory}, which has 1,024 bytes");

    call(Op::free_memory, Writer().put(address));
    CHECK(call(Op::read, transfer(Region::range(address, 4))).status == error::invalid_value);
    it = only();
    CHECK(it.at("rule") == "memcheck/use-after-free");
    CHECK(it.at("message") == "copies 4 bytes from {memory}, which was freed");
}

TEST_CASE_METHOD(DiagnoseFixture, "a copy in the wrong direction is told, and whether a GPU does it") {
    const auto say = [&](unsigned kind, bool destination, bool source) {
        Writer request;
        for (const unsigned value : {kind, unsigned{destination}, unsigned{source}})
            request.put(static_cast<std::uint8_t>(value));
        CHECK(call(Op::wrong_direction, request).status == 0);
        return only().at("message").get<std::string>();
    };
    CHECK(say(1, false, true) ==
          "the destination is host memory and the source is device memory, but the call says "
          "cudaMemcpyHostToDevice: nothing is copied");
    CHECK(say(2, true, true) ==
          "the destination is device memory, but the call says cudaMemcpyDeviceToHost: a GPU copies anyway, since it "
          "goes by the addresses");
    at(0);
    send_frame(Op::wrong_direction, ++sequence, Writer().put(std::uint8_t{4}).put(std::uint16_t{0}).bytes());
    CHECK(is_closed());
}

TEST_CASE_METHOD(DiagnoseFixture,
                 "every copy in a wrong direction says what does not fit, and what a GPU makes of it") {
    const char* const names[] = {"HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice"};
    for (const unsigned kind : {0u, 1u, 2u, 3u})
        for (const unsigned sides : {0u, 1u, 2u, 3u}) {
            const bool destination = sides & 1, source = sides & 2;  // is it on the device?
            const bool to_device = kind == 1 || kind == 3, from_device = kind >= 2;
            CAPTURE(names[kind], destination, source);
            Writer request;
            for (const unsigned value : {kind, sides & 1, sides >> 1}) request.put(static_cast<std::uint8_t>(value));
            CHECK(call(Op::wrong_direction, request).status == 0);
            const std::string told = only().at("message");
            CHECK((told.find("the destination is " + std::string(destination ? "device" : "host") + " memory") == 0) ==
                  (destination != to_device));
            CHECK((told.find("the source is " + std::string(source ? "device" : "host") + " memory") !=
                   std::string::npos) == (source != from_device));
            CHECK((told.find(" and ") != std::string::npos) == (destination != to_device && source != from_device));
            CHECK(told.find(std::string("but the call says cudaMemcpy") + names[kind] + ":") != std::string::npos);
            const bool refused = (to_device && !destination) || (from_device && !source);
            CHECK(told.ends_with(refused ? ": nothing is copied"
                                         : ": a GPU copies anyway, since it goes by the addresses"));
        }
}

TEST_CASE_METHOD(DiagnoseFixture, "what is freed in the middle says how far, and whether it is there at all") {
    const DevicePtr address = allocate_at(0x10, 1024);
    call(Op::free_memory, Writer().put(address + 1));
    CHECK(only().at("message") == "frees an address 1 byte past the start of {memory}");
    call(Op::free_memory, Writer().put(address));
    call(Op::free_memory, Writer().put(address + 1000));
    const auto it = only();
    CHECK(it.at("rule") == "memcheck/bad-free");
    CHECK(it.at("message") == "frees an address 1,000 bytes past the start of {memory}, which was freed before");
    CHECK(it.at("related").size() == 1);
}

TEST_CASE_METHOD(DiagnoseFixture, "copies to nowhere, of nothing, and of rows that overlap") {
    const DevicePtr address = allocate_at(0x10, 1024), nowhere = address_space::global_end - 4096;
    call(Op::read, transfer(Region::range(nowhere, 1234567)));
    CHECK(only().at("message") == "copies 1,234,567 bytes from 0x77ffffff000, where nothing is allocated");
    call(Op::read, transfer(Region::range(0x5555'0000'1000, 4)));
    CHECK(found().empty());  // the client has told of it
    CHECK(call(Op::read, transfer(Region::range(nowhere, 0))).status == 0);
    CHECK(call(Op::write, transfer(Region::range(nowhere, 0))).status == 0);
    CHECK(call(Op::write, transfer(Region{nowhere, 8, 4, 0})).status == 0);
    const auto taken = judge.take();
    CHECK((taken.at("diagnostics").empty() && taken.at("transfers").empty()));
    const auto reply = call(Op::read, transfer(Region{address, 3, 4, 2}));
    CHECK(reply.status == error::invalid_value);
    CHECK(wire::Reader(reply.results).get_string() == "copy from the device: rows of 4 bytes with a pitch of only 3");
    CHECK(call(Op::read, transfer(Region{address, 3, 4, 1})).status == 0);
    CHECK(call(Op::read, transfer(Region{address, 4, 4, 256})).status == 0);
    CHECK(call(Op::read, transfer(Region{address + 4, 4, 4, 256})).status == error::invalid_value);
    CHECK(call(Op::read, transfer(Region{address, 8, 4, 128})).status == 0);
    CHECK(call(Op::read, transfer(Region{address + 4, 8, 4, 128})).status == 0);  // the last row ends where it may
    CHECK(call(Op::read, transfer(Region{address + 5, 8, 4, 128})).status == error::invalid_value);
}

TEST_CASE_METHOD(DiagnoseFixture, "host code that follows a wild pointer is told of it by its address") {
    call(Op::host_fault, Writer().put(address_space::global_base + 0x123456).put(std::uint8_t{0}));
    auto it = only();
    CHECK(it.at("rule") == "launch/host-dereference");
    CHECK(it.at("message") == "host code reads 0x70000123456, an address in device memory");
    // Past the end of device memory, which the host cannot use either.
    const DevicePtr address = allocate_at(0x10, 4096);
    call(Op::host_fault, Writer().put(address + 4096 + 64).put(std::uint8_t{0}));
    CHECK(only().at("rule") == "launch/host-dereference");
    // Two pages past host-visible memory is too far to be related to it.
    const DevicePtr host = allocate_at(0x20, 4096, "cudaHostAlloc");
    const DevicePtr next = (host + 4096 + 4095) / 4096 * 4096;
    call(Op::host_fault, Writer().put(next + 4095).put(std::uint8_t{0}));
    CHECK(only().at("message") == "host code reads past the end of {memory}");
    call(Op::host_fault, Writer().put(next + 4096).put(std::uint8_t{0}));
    CHECK(only().at("rule") == "launch/host-dereference");
}

TEST_CASE_METHOD(DiagnoseFixture, "mistakes of one line are counted, of two lines told apart") {
    for (const std::uint64_t place : {0x20, 0x20, 0x30}) {
        at(place);
        call(Op::free_memory, Writer().put(DevicePtr{4096}));
    }
    const auto list = found();
    REQUIRE(list.size() == 2);
    CHECK((list[0].at("count") == 2 && list[1].at("count") == 1));
}

TEST_CASE_METHOD(DiagnoseFixture, "host code that uses a device pointer is told of") {
    const DevicePtr address = allocate_at(0x10, 64);
    at(0x20);
    call(Op::host_fault, Writer().put(address + 8).put(std::uint8_t{1}));
    auto it = only();
    CHECK(it.at("rule") == "launch/host-dereference");
    CHECK(it.at("message") == "host code writes to {memory}, an address in device memory");
    CHECK(it.at("place").at("code") == 0x20);
    call(Op::free_memory, Writer().put(address));
    call(Op::host_fault, Writer().put(address).put(std::uint8_t{0}));
    it = only();
    CHECK(it.at("rule") == "memcheck/use-after-free");
    CHECK(it.at("message") == "host code reads {memory}, which was freed");
}

// Host code faults at the end of the last page, not of the array.
TEST_CASE_METHOD(DiagnoseFixture, "host code that runs past the end of memory of both sides is told of it") {
    const char* const kind = GENERATE("cudaMallocManaged", "cudaHostAlloc");
    const DevicePtr address = allocate_at(0x10, 1000, kind), next_page = (address + 1000 + 4095) / 4096 * 4096;
    call(Op::host_fault, Writer().put(next_page).put(std::uint8_t{1}));
    const auto it = only();
    CHECK(it.at("rule") == "memcheck/out-of-bounds");
    CHECK(it.at("message") == "host code writes past the end of {memory}");
    CHECK(it.at("memory").at("allocated").at("code") == 0x10);
}

TEST_CASE_METHOD(DiagnoseFixture, "a refused launch is told at once, and that nobody looked at the end") {
    const FunctionId store = kernel("store_to");
    at(0x20);
    CHECK(launch(store, 0, DevicePtr{0}).status == error::invalid_configuration);
    const std::uint32_t request = sequence;
    auto it = only();
    CHECK(it.at("rule") == "launch/configuration");
    CHECK(it.at("message") == "a launch that no device can run");
    CHECK(it.at("kernel") == "store_to");
    CHECK(it.at("place").at("code") == 0x20);
    SECTION("its error was never checked") {
        call(Op::look_at_launch, Writer().put(request + 1));  // at another
        const auto list = end();
        REQUIRE(list.size() == 1);
        CHECK(list[0].at("rule") == "launch/unchecked");
        CHECK(list[0].at("message") ==
              "the launch failed (a launch that no device can run), and its error was never checked");
        CHECK(list[0].at("place").at("code") == 0x20);
    }
    SECTION("the program looked") {
        call(Op::look_at_launch, Writer().put(request));
        CHECK(end().empty());
    }
}

TEST_CASE_METHOD(DiagnoseFixture, "failed launches that nobody looks at are bounded") {
    const FunctionId store = kernel("store_to");
    for (std::uint64_t i = 1; i <= 1500; ++i) {
        at(i);
        launch(store, 0, DevicePtr{0});
    }
    found();
    CHECK(end().size() == 512);
}

TEST_CASE_METHOD(DiagnoseFixture, "memory that is left at an orderly end is a leak, once a line") {
    allocate_at(0x10, 1000), allocate_at(0x10, 24);
    allocate_at(0x20, 4096, "cudaHostAlloc");
    allocate_at(0x30, 4096, "cudaHostRegister");
    kernel("store_to");  // a module with a variable
    const DevicePtr freed = allocate_at(0x40, 8);
    call(Op::free_memory, Writer().put(freed));
    const auto check = [](const nlohmann::json& list) {
        REQUIRE(list.size() == 2);
        CHECK(list[0].at("rule") == "memcheck/leak");
        CHECK(list[0].at("message") == "{memory} is never freed");
        CHECK(list[0].at("memory").at("bytes") == 1000);
        CHECK((list[0].at("place").at("code") == 0x10 && list[0].at("count") == 2));
        CHECK(list[1].at("message") == "{memory} is never freed");
        CHECK(list[1].at("memory").at("bytes") == 4096);
    };
    SECTION("the program leaves") {
        call(Op::leave);
        CHECK(found().empty());  // not yet
        check(end());
        CHECK(found().empty());  // told once
    }
    SECTION("it frees what it has behind its leaving") {
        call(Op::leave);
        call(Op::reset);
        CHECK(end().empty());
    }
    SECTION("it is killed") { CHECK(end().empty()); }
    SECTION("a kernel has failed") {
        launch(kernel("store_to"), 1, DevicePtr{16});
        call(Op::leave);
        CHECK(end().empty());
    }
}

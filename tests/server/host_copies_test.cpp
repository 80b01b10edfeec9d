// Copies with host-visible memory, and handles: bytes and durations.
#include <vector>

#include "device/fields.hpp"
#include "server/session_fixture.hpp"

using namespace warpgrade::server;
using namespace warpgrade::server::testing;

namespace {

using Bytes = std::vector<std::uint8_t>;

class HostCopies : public ServerFixture {
  public:
    DevicePtr pinned(std::uint64_t bytes, DevicePtr at = 0) {
        return call(Op::allocate_host,
                    Writer().put(bytes).put(at).put_string(at ? "cudaHostRegister" : "cudaMallocHost"))
            .first<DevicePtr>();
    }
    Reply copy(Op op, const Region& region, DevicePtr host, std::uint64_t host_pitch, bool blocking = true) {
        Writer request;
        region.put(request);
        wire::Transfer{0, blocking, host, host_pitch}.put(request);
        return call(op, request);
    }
    void set(DevicePtr at, const Bytes& bytes) { device.write(at, std::as_bytes(std::span(bytes))); }
    Bytes get(DevicePtr at, std::size_t count) {
        Bytes bytes(count);
        device.read(at, std::as_writable_bytes(std::span(bytes)));
        return bytes;
    }
};

Bytes numbered(std::size_t count, unsigned seed) {
    Bytes bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * 31 + i / 251 + seed);
    return bytes;
}

}  // namespace

TEST_CASE_METHOD(HostCopies, "page-locked memory goes up and comes down whole, however large it is") {
    const auto bytes =
        GENERATE(std::size_t{1}, std::size_t{4097}, wire::chunk_bytes, wire::chunk_bytes + 1, std::size_t{3'000'005});
    const DevicePtr memory = allocate(bytes + 2), host = pinned(bytes + 2);
    const Bytes data = numbered(bytes, 1), more = numbered(bytes, 2);
    set(memory, Bytes(bytes + 2, 0xEE)), set(host, Bytes(bytes + 2, 0x77));
    set(host + 1, data);
    CHECK(copy(Op::write, Region::range(memory + 1, bytes), host + 1, bytes).status == 0);
    CHECK(get(memory + 1, bytes) == data);
    CHECK((get(memory, 1)[0] == 0xEE && get(memory + bytes + 1, 1)[0] == 0xEE));
    set(memory + 1, more);
    CHECK(copy(Op::read, Region::range(memory + 1, bytes), host + 1, bytes).status == 0);
    CHECK(get(host + 1, bytes) == more);
    CHECK((get(host, 1)[0] == 0x77 && get(host + bytes + 1, 1)[0] == 0x77));
}

TEST_CASE_METHOD(HostCopies,
                 "rows go from pitch to pitch between both sides, those that end in the middle of a piece too") {
    constexpr std::uint64_t width = 1000, height = 2500, pitch = 1024, host_pitch = 1500;
    const DevicePtr memory = allocate(pitch * height), host = pinned(host_pitch * height);
    const Bytes up = numbered(host_pitch * height, 3), old(pitch * height, 0xEE);
    set(host, up), set(memory, old);
    const Region rows{memory, pitch, width, height};
    REQUIRE(copy(Op::write, rows, host, host_pitch).status == 0);
    const Bytes there = get(memory, pitch * height);
    set(host, Bytes(host_pitch * height, 0x77));
    REQUIRE(copy(Op::read, rows, host, host_pitch).status == 0);
    const Bytes back = get(host, host_pitch * height);
    bool right = true;
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < host_pitch; ++x) {
            if (x < pitch) right &= there[y * pitch + x] == (x < width ? up[y * host_pitch + x] : 0xEE);
            right &= back[y * host_pitch + x] == (x < width ? up[y * host_pitch + x] : 0x77);
        }
    CHECK(right);
    const auto transfers = judge.take().at("transfers");
    REQUIRE(transfers.size() == 2);
    for (const auto& each : transfers) CHECK(each.at("bytes") == width * height);
}

TEST_CASE_METHOD(HostCopies, "registered pages that touch are one, what is beside them is none") {
    constexpr DevicePtr pages = 0x5555'0000'0000;
    REQUIRE(pinned(4096, pages) == pages);
    REQUIRE(pinned(4096, pages + 4096) == pages + 4096);
    const DevicePtr memory = allocate(8192);
    const Bytes data = numbered(8192, 5);
    set(pages, Bytes(data.begin(), data.begin() + 4096)), set(pages + 4096, Bytes(data.begin() + 4096, data.end()));
    CHECK(copy(Op::write, Region::range(memory, 8000), pages + 100, 8000).status == 0);
    CHECK(get(memory, 8000) == Bytes(data.begin() + 100, data.begin() + 8100));
    const auto beyond = copy(Op::write, Region::range(memory, 8192), pages + 1, 8192);
    CHECK(beyond.status == error::invalid_value);
    CHECK(wire::Reader(beyond.results).get_string() == "copy: 0x555500002000 is not page-locked host memory");
    CHECK(copy(Op::read, Region::range(memory, 4), memory, 4).status == error::invalid_value);
    CHECK(copy(Op::write, Region{memory, 8, 8, 3}, pages, 7).status == error::invalid_value);
    CHECK(copy(Op::write, Region{memory, 8, 8, 3}, pages, 8).status == 0);
    CHECK(copy(Op::write, Region{memory, 8, 8, 1}, pages, 0).status == 0);  // one row has no distance
    CHECK(copy(Op::read, Region{memory, 8, 8, 3}, ~DevicePtr{0} - 10, 8).status == error::invalid_value);
}

TEST_CASE_METHOD(HostCopies, "page-locked memory is the faster one, and each copy is listed as what it is") {
    constexpr std::uint64_t bytes = 1 << 20;
    const DevicePtr memory = allocate(bytes), other = allocate(bytes), host = pinned(bytes);
    const Region all = Region::range(memory, bytes);
    CHECK(call(Op::write, transfer(all).put_bytes(std::vector<std::byte>(bytes))).status == 0);
    CHECK(copy(Op::write, all, host, bytes).status == 0);
    CHECK(call(Op::read, transfer(all)).status == 0);
    CHECK(copy(Op::read, all, host, bytes).status == 0);
    Writer within;
    all.put(within), Region::range(other, bytes).put(within);
    wire::Transfer{}.put(within);
    CHECK(call(Op::copy, within).status == 0);
    const auto transfers = judge.take().at("transfers");
    REQUIRE(transfers.size() == 5);
    const auto ns = [&](std::size_t i) { return transfers[i].at("duration_ns").get<double>(); };
    CHECK(ns(0) > 2 * ns(1));
    CHECK(ns(2) > 2 * ns(3));
    CHECK(ns(0) == ns(2));
    CHECK(ns(1) == ns(3));
    for (const std::size_t i : {1u, 3u, 4u}) CHECK(transfers[i].at("bytes") == bytes);
    CHECK(transfers[0].at("kind") == transfers[1].at("kind"));
    CHECK(transfers[2].at("kind") == transfers[3].at("kind"));
    CHECK(transfers[1].at("kind") != transfers[3].at("kind"));
    CHECK(transfers[4].at("kind") != transfers[3].at("kind"));
}

TEST_CASE_METHOD(HostCopies, "a kernel goes with its module, and a reset takes all handles along") {
    const DevicePtr address = allocate(4);
    const FunctionId store = kernel("store_to");
    const auto stream = call(Op::create_stream, Writer().put(std::uint8_t{1}).put(std::uint8_t{1})).first<StreamId>();
    const auto event = call(Op::create_event, Writer().put(std::uint8_t{1})).first<EventId>();
    SECTION("unloaded") {
        CHECK(call(Op::unload_module, Writer().put(ModuleId{1})).status == 0);
        CHECK(launch(store, 1, address).status == error::invalid_device_function);
        CHECK(call(Op::unload_module, Writer().put(ModuleId{1})).status == error::invalid_resource_handle);
        CHECK(call(Op::query_stream, Writer().put(stream)).status == 0);
    }
    SECTION("reset") {
        const std::uint64_t large = 100'000;
        CHECK(call(Op::set_dynamic_shared, Writer().put(store).put(large)).status == 0);
        launch(store, 100, address);
        CHECK(call(Op::reset).status == 0);
        CHECK(call(Op::query_stream, Writer().put(stream)).status == error::invalid_resource_handle);
        CHECK(call(Op::query_stream, Writer().put(0u)).status == 0);  // the device was idle before
        CHECK(call(Op::query_event, Writer().put(event)).status == error::invalid_resource_handle);
        CHECK(call(Op::find_symbol, Writer().put(ModuleId{1}).put_string("factor")).status ==
              error::invalid_resource_handle);
        CHECK(call(Op::free_memory, Writer().put(address)).status == error::invalid_value);
        CHECK(call(Op::create_stream, Writer().put(std::uint8_t{1}).put(std::uint8_t{1})).first<StreamId>() ==
              stream + 1);
    }
}

TEST_CASE_METHOD(HostCopies,
                 "pages are registered up to where the device's own addresses begin, and from where they end") {
    namespace space = address_space;
    CHECK(pinned(4096, space::host_end) == space::host_end);
    CHECK(pinned(4096, space::shared_base - 4096) == space::shared_base - 4096);
    CHECK(pinned(4096, space::user_end - 4096) == space::user_end - 4096);
    const auto refused = [&](std::uint64_t bytes, DevicePtr at) {
        return call(Op::allocate_host, Writer().put(bytes).put(at).put_string("cudaHostRegister")).status;
    };
    CHECK(refused(4097, space::shared_base - 8192 + 4096) == error::invalid_value);
    CHECK(refused(4097, space::user_end - 4096) == error::invalid_value);
    CHECK(refused(4096, space::host_end - 4096) == error::invalid_value);
    CHECK(refused(4096, 0x5555'0000'0001) == error::invalid_value);
    CHECK(refused(0, 0) == error::memory_allocation);
    const auto why = [&](std::uint64_t bytes) {
        auto answer = call(Op::allocate_host, Writer().put(bytes).put(DevicePtr{0}).put_string("cudaMallocHost"));
        return wire::Reader(answer.results).get_string();
    };
    CHECK(why(0) == "cudaMallocHost: 0 bytes");
    CHECK(why(space::host_end - space::host_base + 1) ==
          "cudaMallocHost: " + std::to_string(space::host_end - space::host_base + 1) + " bytes");
}

TEST_CASE_METHOD(HostCopies, "managed memory that no kernel has touched is copied over the link") {
    const DevicePtr there = allocate(64), too = allocate(64), here = allocate(64), also = allocate(64);
    device.on_host = {here, also};
    const auto kind = [&](DevicePtr to, DevicePtr from) {
        Writer within;
        Region::range(to, 64).put(within), Region::range(from, 64).put(within);
        wire::Transfer{}.put(within);
        CHECK(call(Op::copy, within).status == 0);
        return judge.take().at("transfers").at(0).at("kind");
    };
    const auto of = [&](Op op) {
        Writer request = transfer(Region::range(there, 64));
        if (op == Op::write) request.put_bytes(std::vector<std::byte>(64));
        CHECK(call(op, request).status == 0);
        return judge.take().at("transfers").at(0).at("kind");
    };
    CHECK(kind(here, there) == of(Op::read));
    CHECK(kind(here, also) == of(Op::read));
    CHECK(kind(there, here) == of(Op::write));
    CHECK(kind(there, too) != of(Op::write));
    CHECK(kind(there, too) != of(Op::read));
}

TEST_CASE_METHOD(HostCopies, "kernels of several streams share the device by the blocks that they keep on it") {
    const DevicePtr address = allocate(4);
    const FunctionId store = kernel("store_to");
    device.block_ns = 1e6;
    const auto launch_in_new_stream = [&](std::uint32_t blocks) {
        const auto stream =
            call(Op::create_stream, Writer().put(std::uint8_t{0}).put(std::uint8_t{1})).first<StreamId>();
        Writer request;
        request.put(store).put(blocks).put(1u).put(1u).put(256u).put(1u).put(1u);
        request.put(std::uint64_t{0}).put(stream).put(std::uint8_t{0}).put(address);
        REQUIRE(call(Op::launch, request).status == 0);
    };
    // Eight blocks fit on each of four multiprocessors.
    for (const std::uint32_t blocks : {8u, 8u, 8u, 8u, 1u}) launch_in_new_stream(blocks);
    const auto launches = judge.take().at("launches");
    const auto start = [&](std::size_t i) { return launches.at(i).at("start_ns").get<double>(); };
    for (const std::size_t i : {1u, 2u, 3u}) CHECK(start(i) < start(0) + 8e6);
    CHECK(start(4) == start(0) + 8e6);
}

TEST_CASE_METHOD(HostCopies, "what a program allocates is listed with its call, in order") {
    allocate(100), pinned(200), allocate(0);
    const auto listed = judge.take().at("allocations");
    REQUIRE(listed.size() == 3);
    CHECK((listed[0].at("call") == "test" && listed[0].at("bytes") == 100));
    CHECK((listed[1].at("call") == "cudaMallocHost" && listed[1].at("bytes") == 200));
    CHECK(listed[2].at("bytes") == 0);
}

TEST_CASE_METHOD(HostCopies, "textures and surfaces are bounded, and gone when they are destroyed") {
    Writer image;
    wire::put(image, ImageDescriptor{});
    std::size_t made = 0;
    Reply reply;
    while ((reply = call(Op::create_image, image)).status == 0) ++made;
    CHECK(made == 65536);
    CHECK(reply.status == error::memory_allocation);
    CHECK(call(Op::destroy_image, Writer().put(ImageId{7})).status == 0);
    CHECK(call(Op::destroy_image, Writer().put(ImageId{7})).status == error::invalid_value);
    CHECK(call(Op::create_image, image).status == 0);
    CHECK(call(Op::create_image, image).status == error::memory_allocation);
    CHECK(call(Op::reset).status == 0);
    CHECK(call(Op::create_image, image).status == 0);
}

TEST_CASE_METHOD(HostCopies, "what a device is asked about its memory and its blocks") {
    const DevicePtr address = allocate(1000);
    const auto found = call(Op::find_allocation, Writer().put(address + 999));
    CHECK(wire::Reader(found.results).get<std::uint64_t>() == address);
    CHECK(wire::Reader(std::span(found.results).subspan(8)).get<std::uint64_t>() == 1000);
    const auto nothing = call(Op::find_allocation, Writer().put(address + 1000));
    CHECK(nothing.status == 0);
    CHECK(nothing.results == std::vector<std::byte>(16));
    const auto info = call(Op::memory_info);
    CHECK(wire::Reader(info.results).get<std::uint64_t>() == (1 << 30) - 1000);
    CHECK(wire::Reader(std::span(info.results).subspan(8)).get<std::uint64_t>() == 1 << 30);
    const FunctionId store = kernel("store_to");
    const auto blocks = [&](std::uint32_t threads) {
        return call(Op::occupancy, Writer().put(store).put(threads).put(std::uint64_t{0}));
    };
    CHECK(blocks(256).first<std::uint32_t>() == 8);
    CHECK(blocks(0).status == error::invalid_value);
    CHECK(call(Op::set_limit, Writer().put(std::uint8_t{200}).put(std::uint64_t{1})).status ==
          error::unsupported_limit);
    CHECK(call(Op::set_dynamic_shared, Writer().put(store).put(std::uint64_t{232448})).status == 0);
    CHECK(call(Op::set_dynamic_shared, Writer().put(store).put(~std::uint64_t{0})).status == error::invalid_value);
}

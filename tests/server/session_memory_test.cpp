// Limits of each kind of memory, and that freed memory leaves no state behind.
#include "server/session_fixture.hpp"

using namespace warpgrade::server;
using namespace warpgrade::server::testing;

namespace {

constexpr std::uint64_t page = address_space::page_bytes;
constexpr DevicePtr pages = 0x7F00'0000'0000;  // of the program

class MemoryFixture : public ServerFixture {
  public:
    Reply share(const char* origin, DevicePtr at = 0, std::uint64_t bytes = page) {
        return call(Op::allocate_host, Writer().put(bytes).put(at).put_string(origin));
    }
    int free(Op op, DevicePtr address) {
        Writer request;
        request.put(address);
        if (op == Op::free_ordered) request.put(StreamId{0});
        return call(op, request).status;
    }
    unsigned char value = 0;
    int announce_module(std::uint64_t bytes) { return call(Op::load_module, Writer().put(bytes)).status; }
};

}  // namespace

TEST_CASE_METHOD(MemoryFixture, "the device code that a program has loaded at once is bounded by its bytes") {
    constexpr std::uint64_t most = 64 << 20;
    const auto load = [&] {
        return call(Op::load_module,
                    Writer().put(std::uint64_t{1000}).put_bytes(std::vector<std::byte>(1000, std::byte{1})));
    };
    const auto first = load().first<ModuleId>();
    CHECK(load().status == 0);
    CHECK(announce_module(most - 1999) == error::device_kernel_image_is_invalid);
    CHECK(call(Op::unload_module, Writer().put(first)).status == 0);
    CHECK(announce_module(most - 999) == error::device_kernel_image_is_invalid);
    CHECK(announce_module(most - 1000) == 0);  // which is then expected
}

TEST_CASE_METHOD(MemoryFixture, "a reset makes room for as much device code as at first") {
    CHECK(call(Op::load_module, Writer().put(std::uint64_t{1}).put(std::uint8_t{1})).status == 0);
    CHECK(call(Op::reset).status == 0);
    CHECK(announce_module((64 << 20) + 1) == error::device_kernel_image_is_invalid);
    CHECK(announce_module(64 << 20) == 0);
}

TEST_CASE_METHOD(MemoryFixture, "allocations of memory of both sides are bounded, and freeing makes room in each way") {
    for (int i = 0; i < 32768; ++i) REQUIRE(share("test", pages + page * static_cast<unsigned>(i)).status == 0);
    CHECK(share("test").status == error::memory_allocation);
    for (const Op op : {Op::free_memory, Op::free_ordered}) {
        CHECK(free(op, pages + page) == 0);
        CHECK(share("test", pages + page).status == 0);
        CHECK(share("test").status == error::memory_allocation);
    }
    CHECK(call(Op::reset).status == 0);
    CHECK(share("test").status == 0);
}

TEST_CASE_METHOD(MemoryFixture,
                 "what comes to lie where managed memory was is not managed, nor was it used too early") {
    const FunctionId store = kernel("store_to");
    const DevicePtr target = allocate(4);
    const auto use_too_early = [&] {
        const std::byte other{++value};
        device.write(pages, std::span(&other, 1));
        device.next_accesses = {{pages, 64, MemoryUse::write}};
        CHECK(launch(store, 1, target).status == 0);
        call(Op::host_touches, Writer().put(pages).put(std::uint64_t{0x77}).put(std::uint8_t{0}));
    };
    for (const Op op : {Op::free_memory, Op::free_ordered}) {
        CAPTURE(op);
        CHECK(share("cudaMallocManaged", pages).status == 0);
        use_too_early();
        auto taken = judge.take();
        REQUIRE(taken.at("diagnostics").size() == 1);
        CHECK(taken.at("diagnostics")[0].at("message").get<std::string>().starts_with("call cudaDeviceSynchronize()"));
        CHECK(taken.at("migrations") == nlohmann::json{{"to_device", {{"pages", 1}, {"bytes", page}}}});
        CHECK(free(op, pages) == 0);
        CHECK(free(op, pages) == error::invalid_value);
        CHECK(judge.take().at("diagnostics").at(0).at("message") == "frees {memory} again");

        CHECK(share("cudaHostRegister", pages).status == 0);
        use_too_early();
        CHECK(call(Op::running_writes).results.empty());
        taken = judge.take();
        REQUIRE(taken.at("diagnostics").size() == 1);
        CHECK(taken.at("diagnostics")[0].at("message").get<std::string>().starts_with("the call ends"));
        CHECK(taken.at("migrations").empty());
        CHECK(free(op, pages) == 0);
    }
}

TEST_CASE_METHOD(MemoryFixture, "memory of a graph comes and goes at an address of its own") {
    const auto reserve = [&] { return call(Op::reserve_memory, Writer().put(page).put_string("cudaMallocAsync")); };
    const auto allocate_at = [&](DevicePtr at) { return call(Op::allocate_reserved, Writer().put(at)).status; };
    const auto address = reserve().first<DevicePtr>();
    CHECK(free(Op::free_ordered, address) == error::invalid_value);  // it is not there yet
    for (int i = 0; i < 2; ++i) {
        CHECK(allocate_at(address) == 0);
        CHECK(allocate_at(address) == error::invalid_value);
        CHECK(free(i == 0 ? Op::free_ordered : Op::free_memory, address) == 0);
    }
    CHECK(allocate_at(allocate(page)) == error::invalid_value);
    CHECK(allocate_at(address + 1) == error::invalid_value);
    CHECK(call(Op::reset).status == 0);
    CHECK(allocate_at(address) == error::invalid_value);
    for (int i = 0; i < 65536; ++i) REQUIRE(reserve().status == 0);
    CHECK(reserve().status == error::memory_allocation);
}

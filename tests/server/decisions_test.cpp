// Decisions of host code, field by field: what is compared between two runs, what is left out, and the messages.
#include "server/decisions.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/address_space.hpp"
#include "judge/catch.hpp"

using namespace warpgrade::server;
using wire::Op;
using wire::Region;
using wire::Writer;

namespace {

constexpr std::uint64_t device_memory = address_space::global_base + 4096;

Decision made(Op op, const Writer& request) {
    return make_decision(op, request.bytes(), [](std::uint64_t address) { return address; });
}

// As session_execute.cpp reads it.
struct Launch {
    std::uint32_t kernel = 1;
    std::array<std::uint32_t, 6> size{1, 1, 1, 32, 1, 1};
    std::uint64_t shared = 0;
    std::uint32_t stream = 0;
    std::uint8_t cooperative = 0;
    std::vector<std::uint64_t> arguments;
};
Decision made(const Launch& launch) {
    Writer request;
    request.put(launch.kernel);
    for (const auto each : launch.size) request.put(each);
    request.put(launch.shared).put(launch.stream).put(launch.cooperative);
    for (const auto each : launch.arguments) request.put(each);
    return made(Op::launch, request);
}

// A request with a region.
Decision made(Op op, const Region& region, std::uint32_t stream = 0, std::uint8_t value = 0,
              const Region& source = Region::range(device_memory, 64)) {
    Writer request;
    region.put(request);
    if (op == Op::copy) source.put(request);
    if (op == Op::fill) request.put(value);
    wire::Transfer{stream, true}.put(request);
    return made(op, request);
}

Decision free_request() { return made(Op::free_memory, Writer().put(device_memory)); }

std::string told(const Decision& mine, const Decision& other) {
    return first_difference(std::vector{mine}, std::vector{other}).value_or("");
}
template <class Change>
std::string told(Change&& change) {
    Launch other;
    change(other);
    return told(made(Launch{}), made(other));
}
std::size_t changes(const Decision& mine, const Decision& other, std::size_t most = 3) {
    return count_changes(std::vector{mine}, std::vector{other}, most);
}

}  // namespace

TEST_CASE("decisions: what a launch is made of, to the last byte of each field") {
    constexpr std::uint32_t high = 1u << 24;
    CHECK(told([](Launch& l) { l.kernel |= high; }) == "launch 1 runs another kernel than with other inputs");
    CHECK(told([](Launch& l) { l.size[0] = 2; }) == "the grid of launch 1 is 1 × 1 × 1, with other inputs 2 × 1 × 1");
    CHECK(told([](Launch& l) { l.size[2] |= high; }) ==
          "the grid of launch 1 is 1 × 1 × 1, with other inputs 1 × 1 × 16777217");
    CHECK(told([](Launch& l) { l.size[3] = 33; }) ==
          "the block of launch 1 is 32 × 1 × 1, with other inputs 33 × 1 × 1");
    CHECK(told([](Launch& l) { l.size[4] = 2, l.size[5] = 3; }) ==
          "the block of launch 1 is 32 × 1 × 1, with other inputs 32 × 2 × 3");
    CHECK(told([](Launch& l) { l.size[5] |= high; }) ==
          "the block of launch 1 is 32 × 1 × 1, with other inputs 32 × 1 × 16777217");
    CHECK(told([](Launch& l) { l.shared = 5; }) ==
          "the dynamic shared memory of launch 1 is 0, with other inputs 5 bytes");
    CHECK(told([](Launch& l) { l.shared = 1ULL << 56; }) ==
          "the dynamic shared memory of launch 1 is 0, with other inputs 72057594037927936 bytes");
    CHECK(told([](Launch& l) { l.stream = 1; }) == "launch 1 goes to another stream than with other inputs");
    CHECK(told([](Launch& l) { l.stream = high; }) == "launch 1 goes to another stream than with other inputs");
    Launch a, b;
    a.arguments = {7, 0x0000'0002'0000'0001}, b.arguments = {7, 0x0000'0003'0000'0001};
    CHECK(told(made(a), made(b)) == "the arguments of launch 1 hold 0x2, with other inputs 0x3 at byte 12");
    b.arguments = {6, 0x0000'0003'0000'0001};
    CHECK(told(made(a), made(b)) == "the arguments of launch 1 hold 0x7, with other inputs 0x6 at byte 0");
    b.arguments = {7};
    CHECK(told(made(a), made(b)) == "launch 1 is another one than with other inputs");
}

TEST_CASE("decisions: what a kernel does not read of its arguments is the same in each run") {
    Launch launch;
    launch.kernel = 7;
    launch.arguments = {0x11, 0x2222222200000022, 0x33};
    auto mine = made(launch);
    CHECK(launched_function(mine) == 7);
    CHECK(launched_function(made(Op::fill, Region::range(device_memory, 64))) == 0);
    CHECK(launched_function(Decision{Op::launch, {}}) == 0);
    launch.arguments = {0x11, 0x4444444400000022, 0x55};
    auto other = made(launch);
    std::vector<bool> read(12, true);
    clear_unread_arguments(mine, read), clear_unread_arguments(other, read);
    CHECK(mine.payload == other.payload);
    launch.arguments = {0x11, 0x2222222200000023};
    auto another = made(launch);
    clear_unread_arguments(another, read);
    CHECK(another.payload != other.payload);
}

TEST_CASE("decisions: copies, fills and allocations are told in their own words") {
    const auto range = [](std::uint64_t bytes) { return Region::range(device_memory, bytes); };
    CHECK(told(made(Op::write, range(8)), made(Op::write, range(12))) ==
          "copy 1 to the device has 8, with other inputs 12 bytes");
    CHECK(told(made(Op::read, {device_memory, 64, 4, 3}), made(Op::read, {device_memory, 64, 4, 5})) ==
          "copy 1 from the device has 12, with other inputs 20 bytes");
    CHECK(told(made(Op::read, {device_memory, 64, 4, 3}), made(Op::read, {device_memory, 64, 3, 4})) ==
          "copy 1 from the device has another place or shape than with other inputs");
    CHECK(told(made(Op::fill, range(8)), made(Op::fill, range(9))) ==
          "fill 1 (cudaMemset) has 8, with other inputs 9 bytes");
    CHECK(told(made(Op::fill, range(8), 0, 4), made(Op::fill, range(8), 0, 255)) ==
          "fill 1 (cudaMemset) sets 4, with other inputs 255");
    CHECK(told(made(Op::fill, range(8), 1), made(Op::fill, range(8), 2)) ==
          "fill 1 (cudaMemset) has another place or shape than with other inputs");
    CHECK(told(made(Op::copy, range(8)), made(Op::copy, range(9))) ==
          "copy 1 on the device is another one than with other inputs");
    const auto number = [](std::uint64_t value) { return Writer().put(value); };
    CHECK(told(made(Op::allocate, number(8)), made(Op::allocate, number(9))) ==
          "allocation 1 has 8, with other inputs 9 bytes");
    CHECK(told(made(Op::allocate_host, number(8)), made(Op::allocate_host, number(9))) ==
          "allocation 1 is another one than with other inputs");
    CHECK(told(made(Op::create_image, number(8)), made(Op::create_image, number(9))) ==
          "texture or surface object 1 is another one than with other inputs");
    CHECK(told(made(Op::free_memory, number(8)), made(Op::free_memory, number(9))) ==
          "request 1 of kind free_memory is another one than with other inputs");
}

TEST_CASE("decisions: a request is numbered among its kind, and what comes only in one run is named") {
    const auto launch = made(Launch{}), read = made(Op::read, Region::range(device_memory, 4)),
               write = made(Op::write, Region::range(device_memory, 4));
    const std::vector<Decision> all{launch, read, launch, write}, fewer{launch, read, launch};
    CHECK(first_difference(all, all) == std::nullopt);
    CHECK(first_difference(all, fewer) == "copy 1 to the device comes only with these inputs");
    CHECK(first_difference(fewer, all) == "copy 1 to the device comes only with other inputs");
    CHECK(first_difference(fewer, std::vector{launch, read, write}) ==
          "where launch 2 comes, copy 1 to the device comes with other inputs");
    CHECK(first_difference(fewer, std::vector{launch, launch, read}) ==
          "where copy 1 from the device comes, launch 2 comes with other inputs");
}

TEST_CASE("decisions: the data of copies and the images of modules are none; addresses have the names they are given") {
    const auto named = [](Op op, const Writer& request) {
        const auto decision = make_decision(op, request.bytes(), [](std::uint64_t address) { return address + 1; });
        std::vector<std::size_t> places;  // of bytes that differ
        for (std::size_t i = 0; i < decision.payload.size(); ++i)
            if (decision.payload[i] != request.bytes()[i]) places.push_back(i);
        return std::pair(decision.payload.size(), places);
    };
    using Named = std::pair<std::size_t, std::vector<std::size_t>>;
    const auto words = [](std::size_t count) {
        Writer request;
        for (std::size_t i = 0; i < count; ++i) request.put(device_memory);
        return request;
    };
    CHECK(named(Op::write, words(20)) == Named{53, {0, 37}});
    CHECK(named(Op::write, words(5)) == Named{40, {0}});
    CHECK(named(Op::read, words(20)) == Named{160, {0, 37}});
    CHECK(named(Op::load_module, words(20)) == Named{8, {}});
    CHECK(named(Op::copy, words(10)) == Named{80, {0, 32}});
    for (const Op op : {Op::fill, Op::prefetch, Op::free_memory, Op::free_ordered, Op::allocate_reserved})
        CHECK(named(op, words(2)) == Named{16, {0}});
    CHECK(named(Op::allocate, words(2)) == Named{16, {}});
    Writer launch = Writer().put_bytes(std::vector<std::byte>(41));
    launch.put(device_memory).put(device_memory).put(std::uint32_t{5});
    CHECK(named(Op::launch, launch) == Named{61, {41, 49}});
    // Registering pages is a decision; their address is none.
    const auto host = [](std::uint64_t address) {
        return made(Op::allocate_host, Writer().put(std::uint64_t{64}).put(address)).payload;
    };
    CHECK(host(4096) == host(8192));
    CHECK(host(4096) != host(0));
    // Which pages hold what the program registers is nobody's choice.
    const auto of_pages = [](Op op, const Writer& request) { return is_of_pages(op, request.bytes()); };
    const auto pages = [](std::uint64_t address) { return Writer().put(std::uint64_t{64}).put(address); };
    CHECK(of_pages(Op::allocate_host, pages(0x7000'0000'0000)));
    CHECK(of_pages(Op::allocate_host, pages(4096)));
    CHECK_FALSE(of_pages(Op::allocate_host, pages(0)));  // cudaHostAlloc
    CHECK_FALSE(of_pages(Op::allocate_host, Writer().put(std::uint64_t{4096})));
    CHECK_FALSE(of_pages(Op::register_host, pages(0x7000'0000'0000)));
    CHECK(of_pages(Op::free_memory, Writer().put(std::uint64_t{0x7000'0000'0000})));
    CHECK_FALSE(of_pages(Op::free_memory, Writer().put(device_memory)));
    CHECK(named(Op::unregister_host, words(1)) == Named{8, {0}});
}

TEST_CASE("decisions: waiting and asking decide nothing") {
    for (const Op op : {Op::hello, Op::synchronize_device, Op::query_event, Op::record_event, Op::leave, Op::data})
        CHECK_FALSE(is_decision(op));
    for (const Op op : {Op::write, Op::launch, Op::fill, Op::allocate, Op::free_memory, Op::load_module})
        CHECK(is_decision(op));
}

TEST_CASE("decisions: addresses and streams are no changes, all else is") {
    const auto at = [](std::uint64_t address, std::uint64_t bytes = 8) { return Region::range(address, bytes); };
    for (const Op op : {Op::write, Op::read, Op::copy, Op::fill}) {
        CAPTURE(wire::ops.at(static_cast<std::size_t>(op)).name);
        const auto mine = made(op, at(device_memory));
        CHECK(changes(mine, made(op, at(device_memory + 64))) == 0);
        CHECK(changes(mine, made(op, at(device_memory), 0xFFFF'FFFF)) == 0);
        CHECK(changes(mine, made(op, at(device_memory, 12))) == 4);
        CHECK(changes(mine, made(op, at(4096))) == 4);  // which is no address
    }
    CHECK(changes(made(Op::copy, at(device_memory), 0, 0, at(device_memory)),
                  made(Op::copy, at(device_memory), 0, 0, at(device_memory + 64))) == 0);
    CHECK(changes(made(Op::fill, at(device_memory), 0, 1), made(Op::fill, at(device_memory), 0, 2)) == 4);
    // Addresses begin at the device's first window and have 48 bits.
    const auto free = [](std::uint64_t address) { return made(Op::free_memory, Writer().put(address)); };
    CHECK(changes(free(address_space::shared_base), free((1ULL << 48) - 1)) == 0);
    CHECK(changes(free(device_memory), free(address_space::shared_base - 1)) == 4);
    CHECK(changes(free(device_memory), free(1ULL << 48)) == 4);
}

TEST_CASE("decisions: changes of launches are counted by how much, each once") {
    const auto with = [](std::vector<std::uint64_t> arguments, std::uint32_t stream = 0, std::uint32_t blocks = 1) {
        Launch launch;
        launch.arguments = std::move(arguments), launch.stream = stream, launch.size[0] = blocks;
        return made(launch);
    };
    CHECK(changes(with({1, 2, 3}), with({1, 2, 3}, 9)) == 0);
    CHECK(changes(with({1, 2, 3}), with({1, 2, 3}, 0xFF00'0000)) == 0);
    CHECK(changes(with({1, 2, 3}), with({2, 3, 4})) == 1);
    CHECK(changes(with({1, 2, 3}), with({1, 4, 4})) == 2);
    CHECK(changes(with({1, 2, 3}), with({2, 4, 6})) == 3);
    CHECK(changes(with({1, 2, 3}), with({2, 4, 6}), 2) == 3);
    CHECK(changes(with({1, 2, 3, 4}), with({2, 4, 6, 8}), 2) == 3);
    CHECK(changes(with({1}), with({1, 2})) == 4);
    CHECK(changes(with({1}), with({1}, 0, 2)) == 1);
    CHECK(changes(with({1}), with({2}, 0, 3)) == 2);
    CHECK(changes(with({1}), made(Op::allocate, Writer().put(1u))) == 4);
    CHECK(changes(with({device_memory, 5}), with({device_memory + 64, 5})) == 0);
    CHECK(count_changes(std::vector{with({1})}, {}, 3) == 4);
    // In whatever order.
    CHECK(count_changes(std::vector{with({1}), free_request(), with({2})},
                        std::vector{with({2}), with({1}), free_request()}, 3) == 0);
}

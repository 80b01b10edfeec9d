// What modules of the same image share, and what each has of its own.
#include "vgpu/code/module.hpp"

#include <span>
#include <string>

#include "judge/catch.hpp"
#include "vgpu/ops/opcodes.hpp"

using namespace warpgrade::vgpu;

namespace {

std::string image(const std::string& kernel) {
    return ".version 8.0\n.target sm_75\n.address_size 64\n.global .u32 total = 3;\n.visible .entry " + kernel +
           "() {\nret;\n}\n";
}

LoadedModule load(const std::string& text, GlobalMemory& memory, int compute_capability = 90) {
    return {std::as_bytes(std::span(text)), compute_capability, memory, opcode_table()};
}

}  // namespace

TEST_CASE("the same image is parsed once for two devices, whose variables are their own") {
    GlobalMemory of_call(1 << 20), of_replay(1 << 20);
    const auto text = image("k");
    LoadedModule call = load(text, of_call), replay = load(std::string(text), of_replay);
    CHECK(&call.ptx() == &replay.ptx());
    CHECK(call.kernel("k").info.name == "k");
    CHECK(&replay.kernel("k") == &call.kernel("k"));
    const auto place = call.symbol("total").address;
    *of_call.checked(place, 4, "a write") = std::byte{7};
    CHECK(*of_replay.checked(replay.symbol("total").address, 4, "a read") == std::byte{3});
}

TEST_CASE("another image, or one for another device, is parsed for itself") {
    GlobalMemory memory(1 << 20);
    LoadedModule one = load(image("k"), memory), other = load(image("m"), memory);
    CHECK(&one.ptx() != &other.ptx());
    CHECK(other.kernel("m").info.name == "m");
    const LoadedModule older = load(image("m"), memory, 80);
    CHECK(&older.ptx() != &other.ptx());
}

TEST_CASE("an image is kept for the next session, until another one comes") {
    GlobalMemory memory(1 << 20);
    const auto kept = load(image("k"), memory).image();
    CHECK_FALSE(kept.expired());
    CHECK(load(image("k"), memory).image().lock() == kept.lock());
    load(image("m"), memory);
    CHECK(kept.expired());
}

TEST_CASE("a kernel is decoded for the places of its variables, and for its steps") {
    const auto text = image("k");
    GlobalMemory memory(1 << 20);
    LoadedModule here = load(text, memory), there = load(text, memory);
    REQUIRE(here.symbol("total").address != there.symbol("total").address);
    const LoadedKernel& known = here.kernel("k");
    CHECK(&there.kernel("k") != &known);
    CHECK(&here.kernel("k") == &known);
    GlobalMemory other(1 << 20);
    LoadedModule stepping(std::as_bytes(std::span(text)), 90, other, opcode_table(), true);
    REQUIRE(stepping.symbol("total").address == here.symbol("total").address);
    CHECK(&stepping.kernel("k") != &known);
}

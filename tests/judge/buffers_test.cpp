// The arrays of a call as the worker maps them.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "judge/arena.hpp"
#include "judge/catch.hpp"
#include "worker/buffers.hpp"

using namespace warpgrade;

namespace {

constexpr std::size_t page = wire::arena_page_bytes;

std::vector<std::byte> contents(int file, std::size_t bytes) {
    std::vector<std::byte> result(bytes);
    REQUIRE(pread(file, result.data(), bytes, 0) == static_cast<ssize_t>(bytes));
    return result;
}

}  // namespace

TEST_CASE("an array of a worker is its own, between a canary and a guard, whether it is mapped or copied") {
    const auto [offset, bytes, mapped] = GENERATE(table<std::size_t, std::size_t, bool>({
        {page - 4, wire::mapped_bytes + 4, true},  // begins at the end of a page
        {0, wire::mapped_bytes, true},             // fills its pages
        {8, wire::mapped_bytes, false},            // ends within a page
        {page - 100, 100, false},                  // small
        {5, 0, false},
    }));
    const judge::ArenaFile file(32 * page);
    std::vector<std::byte> all(file.bytes);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i * 7 + i / page);
    REQUIRE(pwrite(file.descriptor.get(), all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()));
    const std::span source = std::span(all).subspan(offset, bytes);
    std::uint64_t hint = 0x2000'0000'0000;
    worker::Buffer buffer;
    REQUIRE(buffer.map(source, file.descriptor.get(), offset, hint));
    CHECK(std::ranges::equal(std::span(buffer.data(), buffer.size()), source));
    CHECK(buffer.damage_before() == 0);
    const auto end = reinterpret_cast<std::uint64_t>(buffer.data() + bytes);
    CHECK(end % page == 0);
    CHECK(buffer.distance_past_end(end + 3) == 3);
    CHECK(hint > end);

    std::ranges::fill(std::span(buffer.data(), buffer.size() / 2), std::byte{1});
    CHECK(contents(file.descriptor.get(), file.bytes) == all);
    buffer.data()[-1] = std::byte{0};
    CHECK(buffer.damage_before() == 1);
    CHECK(contents(file.descriptor.get(), file.bytes) == all);

    if (bytes == 0) return;
    // What was not written is the file's own.
    const std::byte other = ~source.back();
    REQUIRE(pwrite(file.descriptor.get(), &other, 1, static_cast<off_t>(offset + bytes - 1)) == 1);
    CHECK((buffer.data()[bytes - 1] == other) == mapped);
}

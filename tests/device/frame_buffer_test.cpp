#include "device/frame_buffer.hpp"

#include <vector>

#include "judge/catch.hpp"

using namespace warpgrade::device::wire;

namespace {

std::vector<std::byte> frame(std::uint32_t number, std::size_t bytes) {
    Header header;
    header.op = Op::data;
    header.sequence = number;
    header.size = static_cast<std::uint32_t>(bytes);
    std::vector<std::byte> result(sizeof header + bytes, static_cast<std::byte>(number));
    std::memcpy(result.data(), &header, sizeof header);
    return result;
}

// Acts as a socket that gives at most `most` bytes of `source` at once. Returns the number of bytes.
std::size_t receive(FrameBuffer& buffer, std::span<const std::byte> source, std::size_t most) {
    const auto room = buffer.free_space();
    REQUIRE_FALSE(room.empty());
    const std::size_t given = std::min({room.size(), source.size(), most});
    std::copy_n(source.begin(), given, room.begin());
    buffer.commit(given);
    return given;
}

}  // namespace

TEST_CASE("frames come out as they went in, however the bytes arrive") {
    const std::size_t most = GENERATE(1, 7, 24, 25, 4096, 1 << 20);
    const std::vector<std::size_t> sizes{0, 1, 100, 16 << 10, 3, 40'000, 0, 5, 0};
    std::vector<std::byte> all;
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        const auto one = frame(i, sizes[i]);
        all.insert(all.end(), one.begin(), one.end());
    }
    FrameBuffer buffer;
    std::size_t given = 0;
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        while (!buffer.has_frame()) given += receive(buffer, std::span(all).subspan(given), most);
        CHECK(buffer.header().sequence == i);
        REQUIRE(buffer.payload().size() == sizes[i]);
        for (const std::byte each : buffer.payload()) REQUIRE(each == static_cast<std::byte>(i));
        buffer.pop();
    }
    CHECK(given == all.size());
    CHECK_FALSE(buffer.has_frame());
}

TEST_CASE("small frames that come together need one look at the socket") {
    std::vector<std::byte> all;
    for (std::uint32_t i = 0; i < 3; ++i) {
        const auto one = frame(i, 10);
        all.insert(all.end(), one.begin(), one.end());
    }
    FrameBuffer buffer;
    CHECK(receive(buffer, all, all.size()) == all.size());
    for (std::uint32_t i = 0; i < 3; ++i) {
        REQUIRE(buffer.has_frame());
        buffer.pop();
    }
    CHECK_FALSE(buffer.has_frame());
}

TEST_CASE("of what follows a large frame nothing is taken") {
    FrameBuffer buffer;
    const auto large = frame(1, chunk_bytes);
    std::size_t given = receive(buffer, large, sizeof(Header));
    while (!buffer.has_frame()) {
        CHECK(buffer.free_space().size() == large.size() - given);
        given += receive(buffer, std::span(large).subspan(given), 100'000);
    }
    CHECK(given == large.size());
}

TEST_CASE("a wrong header is told at once, behind a good frame only when its turn comes") {
    FrameBuffer buffer;
    auto bytes = frame(1, 10);
    Header wrong;
    const int which = GENERATE(0, 1, 2);
    if (which == 0) wrong.magic = 0;
    if (which == 1) wrong.op = static_cast<Op>(ops.size());
    wrong.size = which == 2 ? static_cast<std::uint32_t>(max_payload_bytes + 1) : 1000;
    const auto header = std::as_bytes(std::span(&wrong, 1));
    bytes.insert(bytes.end(), header.begin(), header.end());
    receive(buffer, bytes, bytes.size());
    REQUIRE(buffer.has_frame());
    CHECK(buffer.header().sequence == 1);
    buffer.pop();
    CHECK(buffer.has_frame());
    CHECK_THROWS_AS(buffer.header(), ProtocolError);
}

#include "device/protocol.hpp"

#include "device/fields.hpp"
#include "judge/catch.hpp"

using namespace warpgrade::device;
using namespace warpgrade::device::wire;

TEST_CASE("fields come back as they were put") {
    Writer writer;
    writer.put(std::uint64_t{1} << 63).put(std::int32_t{-5}).put_string("naïve").put(2.5).put(std::uint8_t{7});
    Reader reader(writer.bytes());
    CHECK(reader.get<std::uint64_t>() == std::uint64_t{1} << 63);
    CHECK(reader.get<std::int32_t>() == -5);
    CHECK(reader.get_string() == "naïve");
    CHECK(reader.get<double>() == 2.5);
    CHECK_THROWS_AS(reader.expect_end(), ProtocolError);
    CHECK(reader.get_bool());
    CHECK_NOTHROW(reader.expect_end());
}

TEST_CASE("a reader never reads past the payload") {
    Writer writer;
    writer.put_string("four");
    for (std::size_t cut = 0; cut < writer.bytes().size(); ++cut) {
        Reader reader(std::span(writer.bytes()).first(cut));
        CHECK_THROWS_AS(reader.get_string(), ProtocolError);
    }
    Writer lie;
    lie.put(std::uint32_t{0xFFFFFFFF}).put(std::uint64_t{0});
    CHECK_THROWS_AS(Reader(lie.bytes()).get_string(), ProtocolError);
}

TEST_CASE("a header with any wrong field is refused") {
    const auto parse = [](Header header) {
        std::array<std::byte, sizeof header> bytes;
        std::memcpy(bytes.data(), &header, sizeof header);
        return parse_header(bytes);
    };
    Header header;
    header.op = Op::launch;
    header.size = max_payload_bytes;
    CHECK(parse(header).op == Op::launch);
    header.size = max_payload_bytes + 1;
    CHECK_THROWS_AS(parse(header), ProtocolError);
    header.size = 0;
    header.op = static_cast<Op>(ops.size());
    CHECK_THROWS_AS(parse(header), ProtocolError);
    header.op = Op::hello;
    header.magic = 0;
    CHECK_THROWS_AS(parse(header), ProtocolError);
}

TEST_CASE("the extent of a region does not wrap around") {
    std::uint64_t extent = 0;
    CHECK(Region{0, 10, 4, 3}.extent(extent));
    CHECK(extent == 24);
    CHECK(Region{0, 10, 4, 0}.extent(extent));
    CHECK(extent == 0);
    CHECK_FALSE(Region{0, UINT64_MAX, 4, 3}.extent(extent));
    CHECK_FALSE(Region{0, 1, UINT64_MAX, 3}.extent(extent));
    CHECK(Region{0, 0, UINT64_MAX, 3}.bytes() == 0);
}

TEST_CASE("properties and kernels survive the wire") {
    DeviceProperties properties;
    properties.name = "Some GPU";
    properties.multi_processor_count = 132;
    properties.max_grid_size = {1, 2, 3};
    properties.dram_bytes_per_ns = 3350.5;
    Writer writer;
    put(writer, properties);
    Reader reader(writer.bytes());
    const auto back = get_properties(reader);
    CHECK(back.name == "Some GPU");
    CHECK(back.multi_processor_count == 132);
    CHECK(back.max_grid_size.z == 3);
    CHECK(back.dram_bytes_per_ns == 3350.5);
    reader.expect_end();

    FunctionInfo info;
    info.params = {{0, 8}, {8, 4}};
    info.param_bytes = 12;
    Writer kernel;
    put(kernel, info);
    Reader kernel_reader(kernel.bytes());
    CHECK(get_function_info(kernel_reader).params.at(1).offset == 8);
    info.params.at(1).bytes = 5;  // reaches past the block
    Writer wrong;
    put(wrong, info);
    Reader wrong_reader(wrong.bytes());
    CHECK_THROWS_AS(get_function_info(wrong_reader), ProtocolError);
}

// Surface instructions at the edges of arrays: what is inside, where clamped accesses go, what gives zeros.
#include <algorithm>
#include <cstring>
#include <optional>

#include "support/contains.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using namespace warpgrade::vgpu::test;
using device::ImageDescriptor;

namespace {

using Place = std::array<int, 3>;  // x in bytes, y, z or layer

struct Geometry {
    std::string name, coordinates;
    unsigned rows, slices;
    bool layered;
};
const Geometry geometries[] = {{"1d", "{%x}", 0, 0, false},
                               {"2d", "{%x, %y}", 3, 0, false},
                               {"3d", "{%x, %y, %z, %z}", 3, 4, false},
                               {"a1d", "{%z, %x}", 0, 4, true},
                               {"a2d", "{%z, %x, %y, %y}", 3, 4, true}};

// Five texels of four bytes a row, 32 bytes apart; slices of 128 bytes.
constexpr int row_bytes = 20;

ImageDescriptor array_of(const Buffer<std::uint32_t>& memory, const Geometry& g) {
    ImageDescriptor image;
    image.use = device::ImageUse::surface;
    image.shape = device::ImageShape::array;
    image.address = memory.address;
    image.width = 5, image.height = g.rows, image.depth = g.slices, image.layered = g.layered;
    image.pitch = 32, image.slice_bytes = 128;
    image.channels = 1, image.channel_bits = 32;
    return image;
}

std::vector<std::uint32_t> counting() {
    std::vector<std::uint32_t> values(128);
    for (std::uint32_t i = 0; i < 128; ++i) values[i] = 0x01010101u * (i + 1) + i;
    return values;
}

// The offset of an access that is inside or clamped.
std::optional<std::size_t> offset_of(Place at, const Geometry& g, int bytes, bool clamps) {
    if (g.rows == 0) at[1] = 0;
    if (g.slices == 0) at[2] = 0;
    const int last[] = {row_bytes - bytes, std::max(static_cast<int>(g.rows), 1) - 1,
                        std::max(static_cast<int>(g.slices), 1) - 1};
    for (int i = 0; i < 3; ++i) {
        if (at[i] >= 0 && at[i] <= last[i]) continue;
        if (!clamps) return std::nullopt;
        at[i] = at[i] < 0 ? 0 : last[i];
        if (i == 0) at[0] = at[0] / bytes * bytes;
    }
    return static_cast<std::size_t>(at[2]) * 128 + static_cast<std::size_t>(at[1]) * 32 +
           static_cast<std::size_t>(at[0]);
}

// Each lane has a place. `body` uses %x, %y, %z and the surface %t, and 16 bytes at %out.
std::string accessing(const std::string& body) {
    std::string ptx =
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 surface, .param .u64 places, "
        ".param .u64 results) {\n.reg .b16 %h<4>;\n.reg .b32 %i, %x, %y, %z, %w<4>;\n.reg .b64 %t, %p, %out, %d<2>;\n"
        "mov.u32 %i, %tid.x;\nld.param.u64 %t, [surface];\nld.param.u64 %p, [places];\nmad.wide.u32 %p, %i, 12, %p;\n"
        "ld.global.u32 %x, [%p]; ld.global.u32 %y, [%p+4]; ld.global.u32 %z, [%p+8];\n"
        "ld.param.u64 %out, [results];\nmad.wide.u32 %out, %i, 16, %out;\n";
    return ptx + body + "ret;\n}\n";
}

struct Access {
    std::string type, vector, registers;
    int bytes;
};
const Access accesses[] = {{"b8", "", "%h0", 1},
                           {"b16", "", "%h0", 2},
                           {"b32", "", "%w0", 4},
                           {"b64", "", "%d0", 8},
                           {"b32", ".v2", "{%w0, %w1}", 8},
                           {"b16", ".v4", "{%h0, %h1, %h2, %h3}", 8},
                           {"b32", ".v4", "{%w0, %w1, %w2, %w3}", 16},
                           {"b64", ".v2", "{%d0, %d1}", 16}};

// Inside and just outside, in one direction and in several at once.
std::vector<Place> places(int bytes) {
    const int last = (row_bytes - bytes) / bytes * bytes;
    return {{0, 0, 0},        {last, 0, 0},      {last + bytes, 0, 0}, {-bytes, 0, 0},
            {0, 2, 0},        {0, 3, 0},         {0, -1, 0},           {0, 0, 3},
            {0, 0, 4},        {0, 0, -1},        {last, 2, 3},         {0, 1, 2},
            {-bytes, -1, -1}, {last + 64, 9, 9}, {last, 1, 1}};
}

}  // namespace

TEST_CASE("surfaces give what lies at a place, zeros outside, or what is nearest") {
    const auto texels = counting();
    for (const Geometry& g : geometries) {
        for (const Access& a : accesses) {
            for (const bool clamps : {false, true}) {
                CAPTURE(g.name, a.type, a.vector, clamps);
                const std::string how = g.name + a.vector + "." + a.type + (clamps ? ".clamp" : ".zero");
                const std::string memory = "." + std::string(a.bytes == 1 ? "b8" : a.type);
                Machine m(1, accessing("suld.b." + how + " " + a.registers + ", [%t, " + g.coordinates +
                                       "];\nst.global" + a.vector + memory + " [%out], " + a.registers + ";\n"));
                const auto array = m.upload(texels);
                const auto at = places(a.bytes);
                const auto results = m.upload(std::vector<std::byte>(16 * at.size(), std::byte{0xEE}));
                const auto record = m.launch("k", {1}, {static_cast<std::uint32_t>(at.size())},
                                             m.gpu->create_image(array_of(array, g)), m.upload(at), results);
                std::vector<std::byte> expected(16 * at.size(), std::byte{0xEE});
                std::size_t sectors = 0;
                std::vector<std::size_t> touched;
                for (std::size_t i = 0; i < at.size(); ++i) {
                    const auto offset = offset_of(at[i], g, a.bytes, clamps);
                    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(16 * i), a.bytes, std::byte{0});
                    if (!offset) continue;
                    std::memcpy(&expected[16 * i], reinterpret_cast<const std::byte*>(texels.data()) + *offset,
                                static_cast<std::size_t>(a.bytes));
                    if (std::ranges::find(touched, *offset / 32) == touched.end())
                        touched.push_back(*offset / 32), ++sectors;
                }
                CHECK(m.download(results) == expected);
                CHECK(record.counters.surface_load_requests == 1);
                CHECK(record.counters.surface_load_sectors == sectors);

                Machine s(
                    1,
                    accessing(
                        "mov.u32 %w0, 0x07070707; mov.u32 %w1, %w0; mov.u32 %w2, %w0; mov.u32 %w3, %w0;\n"
                        "mov.b32 {%h0, %h1}, %w0; mov.b32 {%h2, %h3}, %w0; mov.b64 %d0, {%w0, %w0}; mov.b64 %d1, %d0;\n"
                        "sust.b." +
                        how + " [%t, " + g.coordinates + "], " + a.registers + ";\n"));
                const auto stored = s.upload(texels);
                auto after = texels;
                for (const Place& one : at)
                    if (const auto offset = offset_of(one, g, a.bytes, clamps))
                        std::memset(reinterpret_cast<std::byte*>(after.data()) + *offset, 7,
                                    static_cast<std::size_t>(a.bytes));
                s.launch("k", {1}, {static_cast<std::uint32_t>(at.size())}, s.gpu->create_image(array_of(stored, g)),
                         s.upload(at), s.upload(std::vector<std::byte>(16 * at.size())));
                CHECK(s.download(stored) == after);
            }
        }
    }
}

TEST_CASE("what a surface cannot do is a fault, and says where") {
    const auto message = [](const std::string& how, const std::string& registers, const Geometry& g, Place at,
                            std::uint32_t width, int code) {
        Machine m(1, accessing("suld.b." + how + " " + registers + ", [%t, " + g.coordinates + "];\n"));
        auto image = array_of(m.upload(counting()), g);
        image.width = width;
        const auto surface = m.gpu->create_image(image);
        const auto places = m.upload(std::vector<Place>{at}), results = m.upload(std::vector<Place>(2));
        return message_of([&] { m.launch("k", {1}, {1}, surface, places, results); }, code);
    };
    const Geometry &line = geometries[0], &layers = geometries[4];
    const int outside = device::error::illegal_address, crooked = device::error::misaligned_address;
    const std::string fine = "the launch did not fail";
    CHECK(message("1d.b32.trap", "%w0", line, {16, 0, 0}, 5, outside) == fine);
    CHECK_THAT(message("1d.b32.trap", "%w0", line, {20, 0, 0}, 5, outside),
               Contains("byte 20 of row 0 of slice or layer 0 lies outside its 20×1×1"));
    CHECK_THAT(message("1d.b32.trap", "%w0", line, {-4, 0, 0}, 5, outside), Contains("byte -4 of row 0"));
    CHECK_THAT(message("a2d.b32.trap", "%w0", layers, {0, 3, 0}, 5, outside), Contains("row 3 of slice or layer 0"));
    CHECK_THAT(message("a2d.b32.trap", "%w0", layers, {0, 0, 4}, 5, outside),
               Contains("slice or layer 4 lies outside its 20×3×4"));
    CHECK_THAT(message("1d.b32.trap", "%w0", line, {2, 0, 0}, 5, crooked),
               Contains("x is 2 bytes, which is not a multiple of the 4 bytes"));
    // A row as long as the access is long enough.
    CHECK(message("1d.v4.b32.clamp", "{%w0, %w1, %w2, %w3}", line, {0, 0, 0}, 4, outside) == fine);
    CHECK_THAT(message("1d.v4.b32.clamp", "{%w0, %w1, %w2, %w3}", line, {0, 0, 0}, 3, outside),
               Contains("a whole row has fewer bytes"));
}

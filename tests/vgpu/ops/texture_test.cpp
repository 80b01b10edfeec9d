// Texture instructions below the level of CUDA C++: descriptors and handles that no runtime would send, counters, and
// refused forms. tests/cudart/programs/textures.cu tests the results of fetches.
#include <algorithm>
#include <cmath>
#include <random>

#include "judge/catch.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using namespace warpgrade::vgpu::test;
using device::ImageDescriptor;
using device::ImageShape;
namespace error = device::error;

namespace {

// Loads a handle into %t and a number into %f1 and %r1 for each thread, runs `body`, stores %f1.
std::string fetching(const std::string& body) {
    return R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 handles, .param .u64 numbers, .param .u64 results)
{
.reg .b64 %p, %q, %t;
.reg .b32 %i, %r1;
.reg .f32 %f<10>;
.reg .pred %odd;
mov.u32 %i, %ctaid.x;
mov.u32 %r1, %ntid.x;
mul.lo.u32 %i, %i, %r1;
mov.u32 %r1, %tid.x;
add.u32 %i, %i, %r1;
ld.param.u64 %p, [handles];
mad.wide.u32 %q, %i, 8, %p;
ld.global.u64 %t, [%q];
ld.param.u64 %p, [numbers];
mad.wide.u32 %q, %i, 4, %p;
ld.global.f32 %f1, [%q];
cvt.rzi.s32.f32 %r1, %f1;
)" + body +
           R"(
ld.param.u64 %p, [results];
mad.wide.u32 %q, %i, 4, %p;
st.global.f32 [%q], %f1;
ret;
}
)";
}

ImageDescriptor line_of(const Buffer<float>& texels) {
    ImageDescriptor image;
    image.address = texels.address;
    image.width = static_cast<std::uint32_t>(texels.size);
    image.channels = 1, image.channel_bits = 32;
    image.kind = device::ChannelKind::floating;
    return image;
}

std::vector<float> counting(std::size_t n) {
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i);
    return values;
}

struct Run {
    std::vector<float> results;
    vgpu::test::Launched record;
};
Run run(Machine& machine, const std::vector<std::uint64_t>& handles, const std::vector<float>& numbers,
        std::uint32_t blocks = 1) {
    const auto results = machine.upload(std::vector<float>(numbers.size(), -1));
    Run done;
    done.record = machine.launch("k", {blocks}, {static_cast<std::uint32_t>(numbers.size() / blocks)},
                                 machine.upload(handles), machine.upload(numbers), results);
    done.results = machine.download(results);
    return done;
}

bool says(const std::string& message, const std::string& what) { return message.find(what) != std::string::npos; }

const std::string by_index = "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%t, {%r1}];";

}  // namespace

TEST_CASE("a fetch is one request, and its sectors are those of its lanes' texels") {
    Machine machine(1, fetching(by_index));
    const auto texture = machine.gpu->create_image(line_of(machine.upload(counting(4096))));
    const std::vector<std::uint64_t> handles(64, texture);
    auto numbers = counting(64);
    auto done = run(machine, handles, numbers);
    CHECK(done.results == numbers);
    CHECK(done.record.counters.texture_requests == 2);
    CHECK(done.record.counters.texture_sectors == 2 * 4);
    CHECK(done.record.counters.global_load_l1_hits == 0);
    for (float& number : numbers) number *= 64;  // a sector each
    done = run(machine, handles, numbers);
    CHECK(done.results == numbers);
    CHECK(done.record.counters.texture_sectors == 64);
    // 32 positions, each between two texels: 33 adjacent texels.
    Machine filtering(1, fetching("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f1}];"));
    auto line = line_of(filtering.upload(counting(40)));
    line.shape = ImageShape::array;
    line.linear_filter = true;
    numbers = counting(32);
    for (float& number : numbers) ++number;
    done = run(filtering, std::vector<std::uint64_t>(32, filtering.gpu->create_image(line)), numbers);
    for (unsigned i = 0; i < 32; ++i) CHECK(done.results[i] == static_cast<float>(i) + 0.5f);
    CHECK(done.record.counters.texture_requests == 1);
    CHECK(done.record.counters.texture_sectors == 5);
}

TEST_CASE("the bytes of the texels that are fetched are those that the launch has read") {
    Machine machine(1, fetching(by_index));
    const auto texels = machine.upload(counting(64));
    const auto texture = machine.gpu->create_image(line_of(texels));
    machine.analysis->set_exact_accesses(true);
    auto numbers = counting(8);
    for (float& number : numbers) number += 24;
    run(machine, std::vector<std::uint64_t>(8, texture), numbers);
    CHECK(std::ranges::count(machine.analysis->take_accesses(),
                             device::MemoryAccess{texels.address + 96, 32, device::MemoryUse::read}) == 1);
}

TEST_CASE("lanes may use different textures, and lanes that are off keep their registers") {
    const bool guarded = GENERATE(false, true);
    Machine machine(1,
                    fetching(guarded ? "and.b32 %i, %i, 31;\nsetp.lt.u32 %odd, %i, 16;\n@%odd " + by_index : by_index));
    std::vector<std::uint64_t> handles;
    std::vector<float> expected, numbers = counting(32);
    for (unsigned i = 0; i < 3; ++i) {
        auto values = counting(32);
        for (float& value : values) value += static_cast<float>(1000 * i);
        handles.push_back(machine.gpu->create_image(line_of(machine.upload(values))));
    }
    for (unsigned i = 0; i < 32; ++i) {
        if (i >= 3) handles.push_back(handles[i % 3]);
        expected.push_back(static_cast<float>(guarded && i >= 16 ? i : 1000 * (i % 3) + i));
    }
    const auto done = run(machine, handles, numbers);
    CHECK(done.results == expected);
    CHECK(done.record.counters.texture_requests == 1);
}

TEST_CASE("a channel that the texture has not is 0, and the fourth 1") {
    const auto [form, expected] = GENERATE(table<std::string, float>(
        {{"{%f3, %f1, %f2, %f4}", 0}, {"{%f3, %f2, %f1, %f4}", 0}, {"{%f3, %f2, %f4, %f1}", 1}}));
    Machine machine(1, fetching("tex.1d.v4.f32.s32 " + form + ", [%t, {%r1}];"));
    const auto texture = machine.gpu->create_image(line_of(machine.upload(counting(8))));
    CHECK(run(machine, {texture}, {5}).results == std::vector<float>{expected});
}

// Of 8 texels, each holds its number; coordinates go from 0 to 1 over the texture.
TEST_CASE("normalized coordinates beyond a texture wrap around, are mirrored or stay at its edge") {
    using device::AddressMode;
    Machine machine(1, fetching("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f1}];"));
    const auto fetched = [&](AddressMode mode, bool linear, float at) {
        auto image = line_of(machine.upload(counting(8)));
        image.shape = ImageShape::array;
        image.address_mode[0] = mode;
        image.normalized_coordinates = true;
        image.linear_filter = linear;
        return run(machine, {machine.gpu->create_image(image)}, {at}).results[0];
    };
    struct Row {
        AddressMode mode;
        float inside, after, next_but_one, before;  // at 0.15625, 1.15625, 2.15625 and -0.84375: a quarter into texel 1
    };
    for (const Row& row :
         {Row{AddressMode::wrap, 1, 1, 1, 1}, {AddressMode::mirror, 1, 6, 1, 6}, {AddressMode::clamp, 1, 7, 7, 0}}) {
        CHECK(fetched(row.mode, false, 0.15625F) == row.inside);
        CHECK(fetched(row.mode, false, 1.15625F) == row.after);
        CHECK(fetched(row.mode, false, 2.15625F) == row.next_but_one);
        CHECK(fetched(row.mode, false, -0.84375F) == row.before);
    }
    // Between the centres of texels 0 and 1, three quarters of the way; around the edge, texel 7's neighbour is texel 0
    // or itself.
    CHECK(fetched(AddressMode::wrap, true, 1.15625F) == 0.75F);
    CHECK(fetched(AddressMode::wrap, true, 1) == 3.5F);
    CHECK(fetched(AddressMode::mirror, true, 1.15625F) == 6.25F);
    CHECK(fetched(AddressMode::mirror, true, 1) == 7);
    CHECK(fetched(AddressMode::clamp, true, 0.15625F) == 0.75F);
    CHECK(fetched(AddressMode::clamp, true, 1.15625F) == 7);
    // Without a filter, texel numbers are floats as well.
    auto plain = line_of(machine.upload(counting(8)));
    plain.shape = ImageShape::array;
    CHECK(run(machine, {machine.gpu->create_image(plain)}, {3.75F}).results[0] == 3);
}

TEST_CASE("a border of infinity shows where a fetch lies on it in part, and nowhere else") {
    Machine machine(1, fetching("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f1}];"));
    auto image = line_of(machine.upload(counting(8)));
    image.shape = ImageShape::array;
    image.address_mode[0] = device::AddressMode::border;
    image.linear_filter = true;
    image.border.fill(INFINITY);
    const auto texture = machine.gpu->create_image(image);
    CHECK(run(machine, {texture, texture, texture}, {7.5F, 7.75F, 0.5F}).results == std::vector<float>{7, INFINITY, 0});
}

TEST_CASE("blocks in parallel fetch what blocks in order fetch") {
    const auto texels = counting(1 << 14);
    std::vector<Run> runs;
    for (const unsigned threads : {1u, 3u}) {
        Machine machine(threads, fetching(by_index));
        const auto texture = machine.gpu->create_image(line_of(machine.upload(texels)));
        runs.push_back(run(machine, std::vector<std::uint64_t>(texels.size(), texture), texels, 64));
    }
    CHECK(runs[0].results == texels);
    CHECK(runs[1].results == texels);
    CHECK(runs[0].record.counters == runs[1].record.counters);
    CHECK(runs[0].record.duration_ns == runs[1].record.duration_ns);
}

TEST_CASE("a handle that is none is a fault of the kernel") {
    Machine machine(1, fetching(by_index));
    const auto texture = machine.gpu->create_image(line_of(machine.upload(counting(8))));
    machine.gpu->destroy_image(texture);
    const auto message = [&](std::uint64_t handle) {
        return message_of([&] { run(machine, {handle}, {0}); }, error::illegal_address);
    };
    CHECK(says(message(texture), "uses a value that is not a texture object"));
    CHECK(says(message(texture), "which was destroyed"));
    for (const std::uint64_t handle :
         {std::uint64_t{0}, ~std::uint64_t{0}, texture + 1, std::uint64_t{0x700'0000'1000}})
        CHECK(says(message(handle), "which was never created"));
}

TEST_CASE("descriptors that no runtime sends are refused") {
    Machine machine(1, fetching(by_index));
    const auto texels = machine.upload(counting(64));
    auto image = line_of(texels);
    int code = error::invalid_value;
    SECTION("no channels") { image.channels = 0, code = error::invalid_channel_descriptor; }
    SECTION("three channels") { image.channels = 3, code = error::invalid_channel_descriptor; }
    SECTION("strange bits") { image.channel_bits = 24, code = error::invalid_channel_descriptor; }
    SECTION("floats of 8 bits") { image.channel_bits = 8, code = error::invalid_channel_descriptor; }
    SECTION("no width") { image.width = 0; }
    SECTION("one texel too many") { ++image.width; }
    SECTION("all the width there is") { image.width = ~0u; }
    SECTION("nowhere") { image.address = 0; }
    SECTION("at the end of all addresses") { image.address = ~std::uint64_t{3}; }
    SECTION("freed memory") { machine.gpu->free(texels.address); }
    SECTION("across texels") { image.address += 2; }
    SECTION("rows of a plain range") { image.height = 1; }
    SECTION("layers of a plain range") { image.layered = true, image.depth = 1; }
    SECTION("rows") {
        image.shape = ImageShape::array, image.width = 8, image.height = 8, image.pitch = 32;
        SECTION("that overlap") { image.pitch = 28; }
        SECTION("too many") { image.height = 9; }
        SECTION("far apart") { image.pitch = ~std::uint64_t{0} / 8 * 8; }
        SECTION("slices that overlap") { image.depth = 2, image.slice_bytes = 128; }
        SECTION("slices that wrap around") { image.depth = 2, image.slice_bytes = std::uint64_t{0} - 256; }
        SECTION("as many as can be said") { image.height = image.depth = ~0u, image.slice_bytes = 1u << 30; }
        SECTION("without layers") { image.layered = true; }
    }
    SECTION("normalized floats") { image.normalized_values = true; }
    SECTION("filtered integers") {
        image.shape = ImageShape::array, image.linear_filter = true;
        image.kind = device::ChannelKind::signed_integer;
    }
    SECTION("a surface of plain memory") { image.use = device::ImageUse::surface; }
    const auto message = message_of([&] { machine.gpu->create_image(image); }, code);
    CAPTURE(message);
    CHECK(says(message, "texture or surface object"));
}

TEST_CASE("whatever a descriptor says, fetches stay inside their allocation") {
    std::mt19937_64 random(7);
    const auto one_of = [&](auto... values) {
        const std::uint64_t list[] = {static_cast<std::uint64_t>(values)...};
        return list[random() % std::size(list)];
    };
    for (const char* geometry : {"1d", "2d", "3d", "a1d", "a2d"}) {
        const std::string form = geometry;
        const std::string coordinates = form == "1d"    ? "{%f1}"
                                        : form == "a1d" ? "{%r1, %f1}"
                                        : form == "2d"  ? "{%f1, %f1}"
                                        : form == "3d"  ? "{%f1, %f1, %f1, %f1}"
                                                        : "{%r1, %f1, %f1, %f1}";
        Machine machine(1, fetching("tex." + form + ".v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, " + coordinates + "];"));
        const auto texels = machine.upload(counting(128));
        std::vector<float> numbers{-1e38f, 1e38f,  -0.0f, 1e-45f, -1e-45f, 0.5f, 1,
                                   -1,     3.999f, 8,     127,    128,     1e9f, -3e9f};
        for (const std::uint32_t bits : {0x7f800000u, 0xff800000u, 0x7fc00000u})
            numbers.push_back(std::bit_cast<float>(bits));
        int accepted = 0;
        for (int i = 0; i < 400; ++i) {
            ImageDescriptor image;
            image.shape = static_cast<ImageShape>(one_of(0, 1, 2, 2, 2));
            image.address = texels.address + one_of(0, 0, 0, 4, 256, 508, 511, 512, 600);
            image.width = static_cast<std::uint32_t>(one_of(1, 2, 4, 5, 8, 128, 129, ~0u));
            image.height = static_cast<std::uint32_t>(one_of(0, 0, 1, 2, 4, 8, ~0u));
            image.depth = static_cast<std::uint32_t>(one_of(0, 0, 1, 2, 4, ~0u));
            image.pitch = one_of(0, 16, 32, 36, 64, random());
            image.slice_bytes = one_of(0, 32, 128, 256, random());
            image.layered = form[0] == 'a';
            image.channels = static_cast<std::uint8_t>(one_of(1, 1, 2, 4));
            image.channel_bits = static_cast<std::uint8_t>(one_of(8, 16, 32));
            image.kind = static_cast<device::ChannelKind>(one_of(0, 1, 2));
            for (auto& mode : image.address_mode) mode = static_cast<device::AddressMode>(one_of(0, 1, 2, 3));
            image.linear_filter = one_of(0, 1);
            image.normalized_coordinates = one_of(0, 1);
            image.normalized_values = one_of(0, 1);
            try {
                const auto texture = machine.gpu->create_image(image);
                run(machine, std::vector<std::uint64_t>(numbers.size(), texture), numbers);
                ++accepted;
            } catch (const device::DeviceError& failure) {
                const bool known = failure.code == error::invalid_value ||
                                   failure.code == error::invalid_channel_descriptor ||
                                   failure.code == error::launch_failure;
                CHECK(known);
            }
        }
        CHECK(accepted > 0);
    }
}

TEST_CASE("forms of textures that are not there are refused by name") {
    const auto [body, what] = GENERATE(table<std::string, std::string>(
        {{"tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f1, %f1, %f1, %f1}];", "tex.cube"},
         {"tex.grad.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f1}], {%f1}, {%f1};", "tex.grad"},
         {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%t, %t, {%r1}];", "separate samplers"},
         {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f1}];", "has 1 coordinates, needs 2"},
         {"tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f1, %f1}];", "tld4"},
         {"txq.width.b32 %r1, [%t];", "txq"}}));
    CAPTURE(body);
    std::string message;
    try {
        Machine machine(1, fetching(body));
        run(machine, {0}, {0});
    } catch (const device::DeviceError& failure) {
        message = failure.what();
    }
    CHECK(says(message, what));
}

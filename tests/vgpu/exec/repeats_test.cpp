// Launches that would change nothing are told again and not run.
#include <memory>
#include <string>

#include "judge/catch.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Buffer;
using vgpu::test::Machine;
using Words = std::vector<std::uint32_t>;

namespace {

const std::string ptx = R"(.version 8.6
.target sm_90
.address_size 64
.const .align 4 .u32 step[1] = {5};
.global .align 4 .u32 kept;
.extern .func (.param .b64 r) malloc (.param .b64 n);
.visible .entry add(.param .u64 to, .param .u64 from, .param .u32 n) {
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    ld.param.u64 %d1, [to];
    ld.param.u64 %d2, [from];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %d3, %r2, 4;
    add.s64 %d1, %d1, %d3;
    add.s64 %d2, %d2, %d3;
    ld.global.u32 %r3, [%d2];
    ld.const.u32 %r4, [step];
    add.u32 %r3, %r3, %r1;
    add.u32 %r3, %r3, %r4;
    st.global.u32 [%d1], %r3;
    ret;
}
.visible .entry count(.param .u64 to) {
    .reg .b64 %d<9>;
    ld.param.u64 %d1, [to];
    red.global.add.u32 [%d1], 1;
    ret;
}
.visible .entry fetch(.param .u64 to, .param .u64 texture) {
    .reg .f32 %f<9>;
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    ld.param.u64 %d1, [to];
    ld.param.u64 %d2, [texture];
    mov.u32 %r1, 0;
    tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d2, {%r1}];
    st.global.f32 [%d1], %f1;
    ret;
}
.visible .entry allocate(.param .u64 to) {
    .reg .b64 %d<9>;
    ld.param.u64 %d1, [to];
    { .param .b64 n; .param .b64 p; mov.u64 %d2, 16; st.param.b64 [n], %d2;
      call (p), malloc, (n); ld.param.b64 %d3, [p]; }
    st.global.u64 [%d1], %d3;
    ret;
}
)";

struct Device : Machine {
    explicit Device(bool skip = true, bool trace = false)
        : Device(options_with(skip, trace, std::make_shared<device::Progress>())) {}

    // Whether the launch ran: a running one sets the number of its instructions to zero first.
    template <class... Args>
    bool runs(const std::string& kernel, const Args&... args) {
        return runs_with(kernel, {1, 1, 1}, {4, 1, 1}, args...);
    }
    template <class... Args>
    bool runs_with(const std::string& kernel, device::Dim3 grid, device::Dim3 block, const Args&... args) {
        progress->instructions = 1'000'000;
        last = launch(kernel, grid, block, args...);
        return progress->instructions != 1'000'000;
    }
    void write(const Buffer<std::uint32_t>& to, const Words& words) {
        gpu->write(to.address, std::as_bytes(std::span(words)));
    }

    std::shared_ptr<device::Progress> progress;
    vgpu::test::Launched last;

  private:
    explicit Device(const vgpu::VirtualGpuOptions& options) : Machine(options, ptx), progress(options.progress) {}
    static vgpu::VirtualGpuOptions options_with(bool skip, bool trace, std::shared_ptr<device::Progress> progress) {
        vgpu::VirtualGpuOptions options;
        options.threads = 1;
        options.skip_repeats = skip;
        options.trace_accesses = trace;
        options.progress = std::move(progress);
        return options;
    }
};

struct Adding : Device {
    Buffer<std::uint32_t> from = upload(Words{1, 2, 3, 4}), to = upload(Words{0, 0, 0, 0});
    bool runs_again(std::uint32_t n = 10) { return runs("add", to, from, n); }
};

const Words sums{16, 17, 18, 19};

}  // namespace

TEST_CASE("the same launch again is not run, and tells the same at a later time") {
    Adding device;
    CHECK(device.runs_again());
    const vgpu::test::Launched first = device.last;
    CHECK_FALSE(device.runs_again());
    CHECK(device.download(device.to) == sums);
    CHECK(device.last.counters == first.counters);
    CHECK(device.last.duration_ns == first.duration_ns);
    CHECK(device.last.kernel == first.kernel);
    CHECK(*device.last.start_ns >= *first.start_ns + first.duration_ns);
    CHECK(device.progress->launches == 2);
}

TEST_CASE("nothing is left out unless it is asked for") {
    Device device(false);
    const auto from = device.upload(Words{1, 2, 3, 4}), to = device.upload(Words{0, 0, 0, 0});
    CHECK(device.runs("add", to, from, 10u));
    CHECK(device.runs("add", to, from, 10u));
}

TEST_CASE("accesses are traced of the first launch and noted as is asked for") {
    Device device(true, true);
    const auto from = device.upload(Words{1, 2, 3, 4}), to = device.upload(Words{0, 0, 0, 0});
    CHECK(device.runs("add", to, from, 10u));
    CHECK(device.last.trace);
    CHECK_FALSE(device.runs("add", to, from, 10u));
    CHECK_FALSE(device.last.trace);
    device.analysis->set_exact_accesses(true);
    CHECK(device.runs("add", to, from, 10u));
    const auto exactly = device.analysis->take_accesses();
    CHECK_FALSE(device.runs("add", to, from, 10u));
    CHECK(device.analysis->take_accesses() == exactly);
}

TEST_CASE("what it reads or has written is changed in between") {
    Adding device;
    device.runs_again();
    SECTION("inputs from the host") {
        device.write(device.from, {2, 2, 3, 4});
        CHECK(device.runs_again());
        CHECK(device.download(device.to) == Words{17, 17, 18, 19});
        CHECK_FALSE(device.runs_again());
    }
    SECTION("the same inputs once more") {
        device.write(device.from, {1, 2, 3, 4});
        CHECK_FALSE(device.runs_again());
    }
    SECTION("results that are cleared") {
        device.gpu->fill(device.to.address, 0, 4);
        CHECK(device.runs_again());
        CHECK(device.download(device.to) == sums);
    }
    SECTION("a copy on the device") {
        device.gpu->copy(device.from.address, device.from.address + 8, 8);
        CHECK(device.runs_again());
        CHECK(device.download(device.to) == Words{18, 19, 18, 19});
    }
    SECTION("another launch") {
        CHECK(device.runs("count", device.from));
        CHECK(device.runs_again());
        CHECK(device.download(device.to) == Words{20, 17, 18, 19});
    }
    SECTION("a constant") {
        const Words six{6};
        device.gpu->write(device.gpu->find_symbol(device.module, "step").address, std::as_bytes(std::span(six)));
        CHECK(device.runs_again());
        CHECK(device.download(device.to) == Words{17, 18, 19, 20});
    }
    SECTION("something else") {
        device.write(device.upload(Words{7}), {8});
        CHECK_FALSE(device.runs_again());
    }
}

TEST_CASE("launches of other kernels, sizes or arguments run") {
    Adding device;
    device.runs_again();
    CHECK(device.runs_again(11));
    CHECK(device.runs_again(10));  // its results are gone
    CHECK(device.runs_with("add", {2, 1, 1}, {2, 1, 1}, device.to, device.from, 10u));
    CHECK(device.runs_with("add", {1, 1, 1}, {2, 1, 1}, device.to, device.from, 10u));
    const auto other = device.upload(Words{0, 0, 0, 0});
    CHECK(device.runs("add", other, device.from, 10u));
    CHECK_FALSE(device.runs("add", other, device.from, 10u));
}

TEST_CASE("what changes what it reads, counts, or allocates runs each time") {
    Adding device;
    CHECK(device.runs("add", device.from, device.from, 1u));
    CHECK(device.runs("add", device.from, device.from, 1u));
    CHECK(device.download(device.from) == Words{13, 14, 15, 16});
    CHECK(device.runs("count", device.to));
    CHECK(device.runs("count", device.to));
    CHECK(device.download(device.to)[0] == 8);
    for (int i = 0; i < 2; ++i) CHECK(device.runs_with("allocate", {1, 1, 1}, {1, 1, 1}, device.to));
}

TEST_CASE("textures are inputs too") {
    Device device;
    const auto texels = device.upload(Words{1, 2, 3, 4}), to = device.upload(Words{0});
    device::ImageDescriptor image;
    image.address = texels.address, image.width = 4;
    image.channels = 1, image.channel_bits = 32, image.kind = device::ChannelKind::floating;
    const std::uint64_t texture = device.gpu->create_image(image);
    const auto runs = [&] { return device.runs_with("fetch", {1, 1, 1}, {1, 1, 1}, to, texture); };
    CHECK(runs());
    CHECK_FALSE(runs());
    device.write(texels, {5});
    CHECK(runs());
    CHECK(device.download(to) == Words{5});
    device.gpu->destroy_image(texture);
    CHECK_THROWS_AS(runs(), device::DeviceError);
}

TEST_CASE("memory that the host may change unseen is read each time") {
    Device device;
    const auto to = device.upload(Words{0, 0, 0, 0});
    const char* const call = GENERATE("cudaHostAlloc", "cudaMallocManaged");
    const auto mapped = device.gpu->allocate_host_visible(4096, 0, call);
    const Buffer<std::uint32_t> from{mapped.address, 4};
    device.may_be_wrong = true;  // nobody has written it
    CHECK(device.runs("add", to, from, 10u));
    CHECK(device.runs("add", to, from, 10u));
}

TEST_CASE("mistakes are told of each launch, and a launch that is stopped fails") {
    Adding device;
    const auto unset = Buffer<std::uint32_t>{device.gpu->allocate(16, "cudaMalloc"), 4};
    const auto found = device.diagnose("add", {1, 1, 1}, {4, 1, 1}, device.to, unset, 1u);
    REQUIRE(found.size() == 1);
    device.progress->instructions = 1'000'000;
    const auto again = device.diagnose("add", {1, 1, 1}, {4, 1, 1}, device.to, unset, 1u);
    CHECK(device.progress->instructions == 1'000'000);
    REQUIRE(again.size() == 1);
    CHECK(again[0].message == found[0].message);
    CHECK(again[0].count == found[0].count);
    device.runs_again();
    device.progress->stop = 1;
    CHECK_THROWS_AS(device.runs_again(), device::DeviceError);
}

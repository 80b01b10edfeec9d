// Launches by kernels, as nvcc writes them: a buffer for the arguments, then the launch.
#include <cstring>

#include "device/address_space.hpp"
#include "support/contains.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Buffer;
using vgpu::test::Machine;
using vgpu::test::message_of;
using u32 = std::uint32_t;

namespace {

const std::string declarations = R"(
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2
    (.param .b64 a, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 a, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2GetLastError ();
.extern .func free (.param .b64 a);
.visible .entry child(.param .u32 value) { ret; }
.visible .entry without_arguments() { ret; }
)";

// Launches what `kernel_address` is with 3 blocks of 64 threads and the argument 77, and does something before it and
// after it. %l2 is the address of the arguments, %r1 is the result of the launch, %r2 and %r3 are the last error, asked
// for twice.
std::string launching(const std::string& kernel_address, const std::string& before, const std::string& after = "") {
    return ".version 8.6\n.target sm_90\n.address_size 64\n" + declarations +
           ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<4>;\n.reg .b64 %o, %l<4>;\nld.param.u64 %o, [out];\n"
           "{\n.param .b64 f;\n.param .align 4 .b8 g[12];\n.param .align 4 .b8 b[12];\n.param .b32 s;\n"
           ".param .b64 r;\n.param .b64 t;\n.param .b32 e;\nmov.u64 %l1, " +
           kernel_address +
           ";\nst.param.b64 [f], %l1;\nst.param.b32 [g+0], 3;\nst.param.b32 [g+4], 1;\n"
           "st.param.b32 [g+8], 1;\nst.param.b32 [b+0], 64;\nst.param.b32 [b+4], 1;\n"
           "st.param.b32 [b+8], 1;\nst.param.b32 [s], 16;\n"
           "call (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);\nld.param.b64 %l2, [r];\n"
           "mov.u32 %r1, 77;\nst.u32 [%l2], %r1;\n" +
           before +
           "st.param.b64 [f], %l2;\nst.param.b64 [t], 0;\n"
           "call (e), __cudaCDP2LaunchDeviceV2, (f, t);\nld.param.b32 %r1, [e];\n" +
           after +
           "call (e), __cudaCDP2GetLastError, ();\nld.param.b32 %r2, [e];\n"
           "call (e), __cudaCDP2GetLastError, ();\nld.param.b32 %r3, [e];\n}\n"
           "st.global.u32 [%o], %r1;\nst.global.u32 [%o+4], %r2;\nst.global.u32 [%o+8], %r3;\nret;\n}\n";
}

struct Launching {
    Machine m;
    Buffer<u32> out;
    explicit Launching(const std::string& ptx) : m(1, ptx), out(m.upload(std::vector<u32>(8))) {}
    std::vector<u32> run() {
        m.launch("k", {1}, {1}, out);
        auto results = m.download(out);
        results.resize(3);
        return results;
    }
};

}  // namespace

TEST_CASE("a kernel's launch is kept until the grid is done, with its arguments") {
    Launching launching_child(launching("child", ""));
    CHECK(launching_child.run() == std::vector<u32>{0, 0, 0});
    const auto children = launching_child.m.gpu->take_children();
    REQUIRE(children.size() == 1);
    CHECK(launching_child.m.gpu->function_info(children[0].function).name == "child");
    CHECK((children[0].config.grid.x == 3 && children[0].config.block.x == 64));
    CHECK(children[0].config.dynamic_shared_bytes == 16);
    u32 argument = 0;
    REQUIRE(children[0].params.size() == sizeof argument);
    std::memcpy(&argument, children[0].params.data(), sizeof argument);
    CHECK(argument == 77);
    CHECK(launching_child.m.gpu->take_children().empty());
}

TEST_CASE("a launch whose arguments are gone is an error, which the kernel can ask for once") {
    const std::string freed = "st.param.b64 [f], %l2;\ncall free, (f);\n";
    const std::string inside = "add.u64 %l2, %l2, 1;\n";
    for (const std::string& before : {freed, inside}) {
        CAPTURE(before);
        Launching wrong(launching("child", before));
        CHECK(wrong.run() == std::vector<u32>{1, 1, 0});
        CHECK(wrong.m.gpu->take_children().empty());
    }
}

TEST_CASE("a launch of what is no kernel is a fault") {
    for (const std::string address : {"0", "4096", "free"}) {
        CAPTURE(address);
        CHECK_THAT(message_of([&] { Launching(launching(address, "")).run(); }, device::error::invalid_device_function),
                   Contains("which is no kernel"));
    }
}

TEST_CASE("of the addresses at which functions may be, those of kernels can be launched") {
    int kernels = 0;
    for (std::uint64_t offset = 0; offset < 160; offset += 8) {
        const auto ptx = launching(std::to_string(device::address_space::code_base + offset), "");
        const auto message = message_of([&] { Launching(ptx).run(); }, device::error::invalid_device_function);
        if (message.find("which is no kernel") == message.npos) ++kernels;
    }
    CHECK(kernels == 3);
}

TEST_CASE("the memory of a launch's arguments is gone after the launch, and holds no more than they need") {
    const auto message = [](const std::string& kernel, const std::string& after) {
        return message_of([&] { Launching(launching(kernel, "", after)).run(); }, device::error::illegal_address);
    };
    CHECK_THAT(message("child", "st.u32 [%l2], %r1;\n"), Contains("which was freed"));
    CHECK_THAT(message("without_arguments", ""), Contains("an allocation of 1 byte ("));
}

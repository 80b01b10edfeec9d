// Registers that share places: every thread must still see its own values, whatever the other lanes do.
#include "support/contains.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"
#include "vgpu/random_program.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using vgpu::test::RandomProgram;

namespace {

std::uint32_t frame_bytes(const std::string& ptx, const std::string& kernel) {
    const auto module = vgpu::ptx::parse(ptx);
    const auto code = vgpu::decode_kernel(module, *module.find_function(kernel), {}, vgpu::opcode_table());
    return code.functions[0].frame_bytes;
}

std::string kernel(const std::string& body) {
    return ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out) {\n" + body + "ret;\n}\n";
}

std::vector<std::uint32_t> run(const std::string& ptx, const std::string& name, std::uint32_t threads,
                               const device::Checks& checks = {}) {
    Machine m(1, ptx, 200'000'000, "h100", checks);
    const auto out = m.upload(std::vector<std::uint32_t>(threads));
    m.launch(name, {1}, {threads}, out);
    return m.download(out);
}

}  // namespace

TEST_CASE("random programs with divergent lanes compute what each thread alone would") {
    constexpr std::uint32_t threads = 50;  // the second warp is not full
    for (unsigned seed = 0; seed < 300; ++seed) {
        const RandomProgram program(seed);
        std::vector<std::uint32_t> expected;
        for (std::uint32_t t = 0; t < threads; ++t) expected.push_back(program.result(t));
        const std::string ptx = program.ptx();
        for (const bool on : {true, false}) {
            const auto got = run(ptx, "program", threads, {on, on, on, on});
            if (got != expected) {
                CAPTURE(seed, on, ptx);
                REQUIRE(got == expected);
            }
        }
    }
}

TEST_CASE("a long chain of values needs few places") {
    std::string body = ".reg .b32 %r<1001>;\n.reg .b64 %to;\nmov.u32 %r0, %tid.x;\n";
    for (int i = 0; i < 1000; ++i)
        body += "add.u32 %r" + std::to_string(i + 1) + ", %r" + std::to_string(i) + ", " + std::to_string(i) + ";\n";
    CHECK(frame_bytes(kernel(body + "ld.param.u64 %to, [out];\nst.global.u32 [%to], %r1000;\n"), "k") <= 1024);
}

TEST_CASE("registers that are never written hold what no program could mistake for a result, in every block") {
    // Only the odd lanes write %r1, after the even ones have read it; %r9 fills every place before.
    std::string body =
        ".reg .b32 %r<10>, %t, %odd;\n.reg .pred %p;\n.reg .b64 %to, %at;\n"
        "mov.u32 %t, %tid.x;\nand.b32 %odd, %t, 1;\nor.b32 %odd, %odd, 8;\nsetp.eq.u32 %p, %odd, 9;\n"
        "@%p mov.u32 %r1, 77;\n"
        "add.u32 %r2, %r1, %r3;\n"
        "ld.param.u64 %to, [out];\nmul.wide.u32 %at, %t, 4;\nadd.u64 %to, %to, %at;\n"
        "st.global.u32 [%to], %r2;\nmov.u32 %r1, 5;\nmov.u32 %r3, 6;\nmov.u32 %r9, 7;\n";
    Machine m(1, kernel(body));
    const auto out = m.upload(std::vector<std::uint32_t>(32, 1));
    m.launch("k", {3}, {32}, out);  // the second and third block find the first one's frame
    std::vector<std::uint32_t> expected;
    for (std::uint32_t l = 0; l < 32; ++l) expected.push_back((l % 2 ? 77 : 0xf1f1f1f1) + 0xf1f1f1f1);
    CHECK(m.download(out) == expected);
}

TEST_CASE("a value that one side of a branch needs survives the other side") {
    // Odd lanes wait at the join with %r1 while even lanes compute with registers of their own.
    std::string body =
        ".reg .b32 %r<40>, %t, %odd;\n.reg .pred %p;\n.reg .b64 %to, %at;\n"
        "mov.u32 %t, %tid.x;\nand.b32 %odd, %t, 1;\nsetp.eq.u32 %p, %odd, 1;\nmov.u32 %r0, 3;\n"
        "@%p bra ODD;\nmov.u32 %r10, 1;\n";
    for (int i = 10; i < 39; ++i) body += "add.u32 %r" + std::to_string(i + 1) + ", %r" + std::to_string(i) + ", 1;\n";
    body +=
        "mov.u32 %r0, %r39;\nbra JOIN;\nODD:\nadd.u32 %r1, %t, 1000;\nadd.u32 %r0, %r1, 1;\nJOIN:\n"
        "ld.param.u64 %to, [out];\nmul.wide.u32 %at, %t, 4;\nadd.u64 %to, %to, %at;\nst.global.u32 [%to], %r0;\n";
    const auto got = run(kernel(body), "k", 32);
    for (std::uint32_t l = 0; l < 32; ++l) CHECK(got[l] == (l % 2 ? l + 1001 : 30));
}

TEST_CASE("a shuffle finds 0 in lanes that have exited, whatever they left behind") {
    // The upper lanes of odd blocks leave values behind; those of even blocks exit at once.
    const std::string body =
        ".reg .b32 %t, %b, %odd, %junk<8>, %v, %d;\n.reg .pred %p, %q;\n.reg .b64 %to, %at;\n"
        "mov.u32 %t, %tid.x;\nmov.u32 %b, %ctaid.x;\nand.b32 %odd, %b, 1;\nsetp.eq.u32 %p, %odd, 0;\n"
        "setp.ge.u32 %q, %t, 16;\n@!%q bra LOW;\n@%p exit;\n"
        "mov.u32 %junk0, %b;\nadd.u32 %junk1, %junk0, 1;\nadd.u32 %junk2, %junk1, %junk0;\n"
        "mul.lo.u32 %junk3, %junk2, %junk1;\nadd.u32 %junk4, %junk3, %junk2;\nmul.lo.u32 %junk5, %junk4, %junk3;\n"
        "exit;\nLOW:\nmov.u32 %v, 5;\nshfl.sync.down.b32 %d, %v, 16, 31, 0xffff;\n"
        "ld.param.u64 %to, [out];\nmad.lo.u32 %b, %b, 32, %t;\nmul.wide.u32 %at, %b, 4;\nadd.u64 %to, %to, %at;\n"
        "st.global.u32 [%to], %d;\n";
    for (const unsigned threads : {1u, 3u}) {
        Machine m(threads, kernel(body));
        const auto out = m.upload(std::vector<std::uint32_t>(128 * 32, 9));
        m.may_be_wrong = true;
        m.launch("k", {128}, {32}, out);
        const auto got = m.download(out);
        for (std::size_t block = 0; block < 128; ++block)
            for (std::size_t l = 0; l < 16; ++l) CHECK(got[block * 32 + l] == 0);
    }
}

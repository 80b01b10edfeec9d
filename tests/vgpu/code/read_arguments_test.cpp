// Which bytes of its arguments a kernel reads.
#include "judge/catch.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"

using namespace warpgrade;

namespace {

// Of a kernel with a pointer, a struct of 16 bytes and an int: "1" for each byte that it reads, else "0".
std::string read_by(const std::string& body) {
    const auto module = vgpu::ptx::parse(
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .align 8 .b8 job[16], .param .u32 n) {\n"
        ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n" +
        body + "ret;\n}\n");
    const auto code = vgpu::decode_kernel(module, *module.find_function("k"), {}, vgpu::opcode_table());
    std::string bytes;
    for (const bool read : code.read_arguments) bytes += read ? '1' : '0';
    return bytes;
}

}  // namespace

TEST_CASE("a kernel reads the bytes of its arguments that it loads, and not the padding between them") {
    CHECK(read_by("").empty());
    CHECK(read_by("ld.param.u64 %d1, [out];\n") == "11111111");
    CHECK(read_by("ld.param.u8 %r1, [job];\nld.param.u64 %d1, [job+8];\n") == "000000001000000011111111");
    CHECK(read_by("ld.param.v2.u32 {%r1, %r2}, [job];\n") == "0000000011111111");
    CHECK(read_by("ld.param.u32 %r1, [n];\n") == "0000000000000000000000001111");
}

TEST_CASE("a kernel that takes an argument's address may read all of it") {
    CHECK(read_by("mov.b64 %d1, job;\nld.param.u8 %r1, [%d1+3];\n") == "000000001111111111111111");
}

// Which accesses have the addresses of an earlier one, up to their offsets.
#include <string>
#include <vector>

#include "judge/catch.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"

using namespace warpgrade;

namespace {

// By access, the number of memory slots since the one with equal addresses; 0 if there is none.
std::vector<unsigned> equal_addresses(const std::string& body) {
    const auto module = vgpu::ptx::parse(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) {\n"
        ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p;\nld.param.u64 %d0, [a];\nmov.u64 %d1, %d0;\n" +
        body + "ret;\n}\n");
    const auto code = vgpu::decode_kernel(module, *module.find_function("k"), {}, vgpu::opcode_table());
    std::vector<unsigned> found;
    for (std::size_t slot = 0; slot < code.stat_insns.size(); ++slot)
        if (slot == 0 || code.stat_insns[slot] != code.stat_insns[slot - 1])
            found.push_back(code.insns[code.stat_insns[slot]].same_addresses);
    return found;
}

using Slots = std::vector<unsigned>;

}  // namespace

TEST_CASE("accesses with one address register have equal addresses until it is written") {
    const std::string load = "ld.global.u32 %r1, [%d0];\n", next = "ld.global.u32 %r2, [%d0+4];\n",
                      other = "ld.global.u32 %r3, [%d1];\n", use = "st.global.u32 [%d0+8], %r1;\n";
    CHECK(equal_addresses(load + next + use) == Slots{0, 1, 2});
    CHECK(equal_addresses(load + other + next) == Slots{0, 0, 2});
    CHECK(equal_addresses(load + "add.s64 %d0, %d0, 4;\n" + next + use) == Slots{0, 0, 1});
    CHECK(equal_addresses(load + "ld.global.u64 %d0, [%d0];\n" + next) == Slots{0, 0, 0});
}

TEST_CASE("only accesses of the same lanes and size have equal addresses") {
    const std::string load = "ld.global.u32 %r1, [%d0];\n", next = "ld.global.u32 %r2, [%d0+4];\n";
    CHECK(equal_addresses(load + "ld.global.u8 %r2, [%d0+4];\n" + next) == Slots{0, 0, 2});
    CHECK(equal_addresses("ld.u32 %r1, [%d0];\n" + next) == Slots{0, 3});  // a generic one has three slots
    const std::string compare = "setp.eq.u64 %p, %d0, 0;\n";
    CHECK(equal_addresses(compare + load + "@%p " + next + next) == Slots{0, 0, 2});
    CHECK(equal_addresses(compare + "@%p " + load + next) == Slots{0, 0});
    CHECK(equal_addresses(compare + load + "@%p bra END;\n" + next + "END:\n") == Slots{0, 0});
}

#include "vgpu/ops/opcodes.hpp"

#include <array>

#include "vgpu/state/warp.hpp"

namespace warpgrade::vgpu {

const OpcodeTable& opcode_table() {
    static const std::array all = {OpcodeFamily{"Integer arithmetic", integer_opcodes()},
                                   OpcodeFamily{"Packed and small integers", packed_opcodes()},
                                   OpcodeFamily{"Logic and bits", bit_opcodes()},
                                   OpcodeFamily{"Floating point", float_opcodes()},
                                   OpcodeFamily{"Half precision", half_opcodes()},
                                   OpcodeFamily{"Comparison and selection", compare_opcodes()},
                                   OpcodeFamily{"Conversion", convert_opcodes()},
                                   OpcodeFamily{"Moves and addresses", move_opcodes()},
                                   OpcodeFamily{"Memory", memory_opcodes()},
                                   OpcodeFamily{"Atomics", atomic_opcodes()},
                                   OpcodeFamily{"Asynchronous copies and mbarriers", async_opcodes()},
                                   OpcodeFamily{"Textures", texture_opcodes()},
                                   OpcodeFamily{"Surfaces", surface_opcodes()},
                                   OpcodeFamily{"Warp", warp_opcodes()},
                                   OpcodeFamily{"Matrix products", matrix_opcodes()},
                                   OpcodeFamily{"Matrices in memory", matrix_memory_opcodes()},
                                   OpcodeFamily{"Control and barriers", control_opcodes()}};
    static const OpcodeTable table(
        {.families = all, .refused = refused_opcodes(), .mnemonics = ptx_mnemonics(), .guarded = run_guarded});
    return table;
}

}  // namespace warpgrade::vgpu

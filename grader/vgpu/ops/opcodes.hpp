// The families of opcodes, and the table made of them.
#pragma once

#include <span>
#include <string_view>

#include "vgpu/code/opcodes.hpp"

namespace warpgrade::vgpu {

std::span<const OpcodeRow> integer_opcodes();
std::span<const OpcodeRow> bit_opcodes();
std::span<const OpcodeRow> float_opcodes();
std::span<const OpcodeRow> half_opcodes();
std::span<const OpcodeRow> packed_opcodes();
std::span<const OpcodeRow> compare_opcodes();
std::span<const OpcodeRow> convert_opcodes();
std::span<const OpcodeRow> move_opcodes();
std::span<const OpcodeRow> memory_opcodes();
std::span<const OpcodeRow> atomic_opcodes();
std::span<const OpcodeRow> async_opcodes();
std::span<const OpcodeRow> texture_opcodes();
std::span<const OpcodeRow> surface_opcodes();
std::span<const OpcodeRow> warp_opcodes();
std::span<const OpcodeRow> matrix_opcodes();
std::span<const OpcodeRow> matrix_memory_opcodes();
std::span<const OpcodeRow> control_opcodes();

std::span<const RefusedOpcode> refused_opcodes();   // including some that a row implements by now
std::span<const std::string_view> ptx_mnemonics();  // all instructions of PTX ISA 9.0

const OpcodeTable& opcode_table();

}  // namespace warpgrade::vgpu

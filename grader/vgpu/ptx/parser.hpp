// Parses a PTX module as nvcc writes it, or as a fatbinary holds it (without comments and blanks). The text may be
// hostile: every error is a PtxError, and time and memory are linear in the text's length, within the limits below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu::ptx {

namespace limit {
inline constexpr std::size_t scope_depth = 64;                              // nested { } in a function
inline constexpr std::size_t operand_depth = 4;                             // nested { } in an operand
inline constexpr std::size_t vector_elements = 1024;                        // of one { } or ( ) operand
inline constexpr std::size_t operands = 64;                                 // of one instruction
inline constexpr std::size_t modifiers = 32;                                // of one instruction
inline constexpr std::size_t inline_depth = 256;                            // frames of one location
inline constexpr std::size_t dimensions = 8;                                // of one array
inline constexpr std::uint64_t registers = 1u << 21;                        // of a module
inline constexpr std::uint64_t variable_bytes = std::uint64_t{1} << 36;     // of one variable
inline constexpr std::uint64_t function_bytes = 1u << 24;                   // of one function's variables
inline constexpr std::uint64_t initialised_bytes = std::uint64_t{1} << 28;  // of a module
inline constexpr std::uint64_t parameter_bytes = 1u << 20;                  // of one parameter
inline constexpr std::uint64_t alias_instructions = 1u << 20;               // repeated by a module's aliases
}  // namespace limit

Module parse(std::string_view text);

}  // namespace warpgrade::vgpu::ptx

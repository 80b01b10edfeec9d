// What is compared bit by bit between the virtual GPU and a real one: opcode forms, each a small PTX kernel, and their
// operands. Both devices get the same PTX and the same operands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace exact {

// Operand classes: w 32-bit integer, l 64-bit, h 16-bit, n small count (32 bits), f f32, d f64, x f16, X f16x2, y bf16,
// Y bf16x2.
struct Form {
    std::string family;  // "float": one file of records each
    std::string name;    // "fma.rn.f32"; unique
    std::string body;    // PTX with %d, %a, %b, %c; %m is the address of 16 bytes of global memory, %s of shared memory
    char result = 'w';   // class of %d
    std::string sources;  // classes of %a, %b, %c
    double error = -1;    // approximate: the bound that PTX states, in `unit`; < 0: every bit counts
    char unit = 'u';      // u: ulps of the result, r: relative to it, a: absolute
    double (*reference)(double) = nullptr;
};

std::vector<Form> forms();

inline constexpr std::size_t cases = 4096, batch = 128;           // operand tuples of a form; operand tuples per hash
inline constexpr std::size_t kept = 64, kept_approximate = 1024;  // operand tuples whose bits are recorded

// Operands of all cases: sources[i][k] are the bits of source i in case k. First all pairs of special values, then
// random ones, some of them related (cancellation, halfway cases).
std::vector<std::vector<std::uint64_t>> operands(const Form& form);

unsigned bytes_of(char operand_class);

// One kernel per form: entry <prefix><index>(a, b, c, d), pointers to arrays of 64-bit words; 128 threads per block.
std::string ptx(const std::vector<Form>& forms);
std::string kernel_name(std::size_t index);

std::uint32_t hash(const std::uint64_t* values, std::size_t count);

}  // namespace exact

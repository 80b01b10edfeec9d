#include "vgpu/code/machine_cost.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

#include "vgpu/code/address_registers.hpp"
#include "vgpu/code/fused.hpp"
#include "vgpu/ptx/names.hpp"

namespace warpgrade::vgpu {
namespace {

struct Row {
    std::string_view opcode, with, types;  // `with`: a modifier; any if it is empty
    MachineCost cost;
};

// The first row that fits counts.
// clang-format off
constexpr Row rows[] = {
    {"div",   "approx", "f32",             {.further = 4, .special_halves = 2}},
    {"div",   "full",   "f32",             {.further = 4, .special_halves = 2}},
    {"div",   "",       "f32",             {.further = 10, .special_halves = 4}},
    {"div",   "",       "f64",             {.further = 15, .special_halves = 2, .doubles = 8}},
    {"div",   "",       "s32",             {.further = 23, .special_halves = 4, .products = 7, .logic = 12}},
    {"rem",   "",       "s32",             {.further = 21, .special_halves = 4, .products = 7, .logic = 10}},
    {"div",   "",       "u32 s16 u16",     {.further = 18, .special_halves = 4, .products = 6, .logic = 9}},
    {"rem",   "",       "u32 s16 u16",     {.further = 17, .special_halves = 4, .products = 6, .logic = 7}},
    {"div",   "",       "s64 u64",         {.further = 95, .special_halves = 6, .products = 45, .logic = 45}},
    {"rem",   "",       "s64 u64",         {.further = 95, .special_halves = 6, .products = 45, .logic = 45}},
    {"rcp",   "ftz",    "f32",             {.special_halves = 2}},
    {"rcp",   "approx", "f32",             {.further = 3, .special_halves = 2}},
    {"rcp",   "",       "f32",             {.further = 9, .special_halves = 2, .logic = 2}},
    {"rcp",   "",       "f64",             {.further = 10, .special_halves = 2, .doubles = 6}},
    {"sqrt",  "ftz",    "f32",             {.further = 1, .special_halves = 2}},
    {"sqrt",  "approx", "f32",             {.further = 4, .special_halves = 2}},
    {"sqrt",  "",       "f32",             {.further = 9, .special_halves = 2, .logic = 2}},
    {"sqrt",  "",       "f64",             {.further = 17, .special_halves = 2, .doubles = 10}},
    {"rsqrt", "ftz",    "f32",             {.special_halves = 2}},
    {"rsqrt", "",       "f32",             {.further = 3, .special_halves = 2}},
    {"rsqrt", "",       "f64",             {.further = 10, .special_halves = 2, .doubles = 6}},
    {"ex2",   "ftz",    "f32",             {.special_halves = 2}},
    {"ex2",   "",       "f32",             {.further = 3, .special_halves = 2}},
    {"lg2",   "ftz",    "f32",             {.special_halves = 2}},
    {"lg2",   "",       "f32",             {.further = 3, .special_halves = 2}},
    {"sin",   "",       "f32",             {.further = 1, .special_halves = 2}},
    {"cos",   "",       "f32",             {.further = 1, .special_halves = 2}},
    {"tanh",  "",       "f32",             {.special_halves = 2}},
    {"popc",  "",       "b32",             {.special_halves = 2}},
    {"popc",  "",       "b64",             {.further = 2, .special_halves = 4}},
    {"clz",   "",       "b32",             {.special_halves = 2}},
    {"clz",   "",       "b64",             {.further = 3, .special_halves = 4}},
    {"brev",  "",       "b32",             {.special_halves = 2}},
    {"brev",  "",       "b64",             {.further = 1, .special_halves = 4}},
    {"add",   "",       "f64",             {.doubles = 1}},
    {"sub",   "",       "f64",             {.doubles = 1}},
    {"mul",   "",       "f64",             {.doubles = 1}},
    {"fma",   "",       "f64",             {.doubles = 1}},
    {"mad",   "",       "f64",             {.doubles = 1}},
    {"setp",  "",       "f64",             {.doubles = 1}},
    {"min",   "",       "f64",             {.further = 3, .doubles = 1}},
    {"max",   "",       "f64",             {.further = 3, .doubles = 1}},
    {"mul",   "",       "s32 u32 s16 u16", {.products = 1}},
    {"mad",   "",       "s32 u32 s16 u16", {.products = 1}},
    {"mul",   "hi",     "s64 u64",         {.further = 9, .products = 4}},
    {"mul",   "",       "s64 u64",         {.further = 3, .products = 4}},
    {"mad",   "",       "s64 u64",         {.further = 3, .products = 4}},
    {"shfl",  "",       "b32",             {.exchanges = 1}},
    {"vote",  "",       "b32 pred",        {.exchanges = 1}},
    {"redux", "",       "s32 u32 b32 f32", {.exchanges = 2}},
    {"add",   "",       "s64 u64",         {.further = 1, .logic = 2}},
    {"sub",   "",       "s64 u64",         {.further = 1, .logic = 2}},
    {"neg",   "",       "s64",             {.further = 1, .logic = 2}},
    {"abs",   "",       "s64",             {.further = 3, .logic = 4}},
    {"min",   "",       "s64 u64",         {.further = 3, .logic = 4}},
    {"max",   "",       "s64 u64",         {.further = 3, .logic = 4}},
    {"and",   "",       "b64",             {.further = 1, .logic = 2}},
    {"or",    "",       "b64",             {.further = 1, .logic = 2}},
    {"xor",   "",       "b64",             {.further = 1, .logic = 2}},
    {"not",   "",       "b64",             {.further = 1, .logic = 2}},
    {"shl",   "",       "b64",             {.further = 1, .logic = 1}},
    {"shr",   "",       "b64 s64 u64",     {.further = 1, .logic = 2}},
    {"setp",  "",       "b64 s64 u64",     {.further = 1, .logic = 2}},
    {"selp",  "",       "b64 s64 u64 f64", {.further = 1, .logic = 2}},
    {"and",   "",       "b32",             {.logic = 1}},
    {"or",    "",       "b32",             {.logic = 1}},
    {"xor",   "",       "b32",             {.logic = 1}},
    {"shr",   "",       "b32 s32 u32",     {.logic = 1}},
    {"shl",   "",       "b32",             {.products = 1}},
    {"shf",   "",       "b32",             {.logic = 1}},
    {"prmt",  "",       "b32",             {.logic = 1}},
    {"lop3",  "",       "b32",             {.logic = 1}},
    {"bfe",   "",       "s32 u32",         {.further = 1, .logic = 1}},
    {"bfi",   "",       "b32",             {.further = 1, .logic = 2}},
    {"setp",  "",       "b32 s32 u32 f32", {.logic = 1}},
    {"selp",  "",       "b32 s32 u32 f32", {.logic = 1}},
    {"min",   "",       "s32 u32 f32",     {.logic = 1}},
    {"max",   "",       "s32 u32 f32",     {.logic = 1}},
};
// clang-format on
// By a constant ptxas multiplies and shifts.
constexpr MachineCost by_constant = {.further = 5, .products = 3, .logic = 2},
                      by_long_constant = {.further = 20, .products = 8}, signed_by_power_of_two = {.further = 3};

bool has(const ptx::Instruction& in, std::string_view modifier) {
    return std::ranges::find(in.modifiers, modifier) != in.modifiers.end();
}

bool is_float(std::string_view type) { return ptx::is_floating(ptx::parse_type(type)); }

// From or to 64 bits of a float costs as much as a root, another conversion between integers and floats half of that.
MachineCost of_conversion(const ptx::Instruction& in) {
    const std::string_view from = in.modifiers.back(), to = in.modifiers[in.modifiers.size() - 2];
    if (from == "f64" || to == "f64") return {.special_halves = 2};
    const bool to_whole = has(in, "rni") || has(in, "rzi") || has(in, "rmi") || has(in, "rpi");
    return {.special_halves = is_float(from) != is_float(to) || to_whole ? 1u : 0u};
}

std::optional<MachineCost> of_division_by_constant(const ptx::Instruction& in) {
    const std::string_view type = in.modifiers.back();
    if ((in.opcode != "div" && in.opcode != "rem") || is_float(type) || in.operands.size() < 3) return {};
    const ptx::Operand& divisor = in.operands[2];
    if (divisor.kind != ptx::Operand::Kind::Immediate) return {};
    if (!std::has_single_bit(divisor.imm)) return type.ends_with("64") ? by_long_constant : by_constant;
    return type.starts_with('s') ? signed_by_power_of_two : MachineCost{};
}

// Such as that of a float's bits to an integer.
bool moves_register(const ptx::Instruction& in) {
    return in.opcode == "mov" && in.operands.size() == 2 &&
           std::ranges::all_of(
               in.operands, [](const ptx::Operand& operand) { return operand.kind == ptx::Operand::Kind::Register; });
}

bool is_folded(const ptx::Instruction& in, const std::vector<bool>& addresses) {
    if (in.opcode != "add" && in.opcode != "sub" && in.opcode != "shl") return false;
    return !in.operands.empty() && in.operands[0].kind == ptx::Operand::Kind::Register &&
           in.operands[0].reg < addresses.size() && addresses[in.operands[0].reg];
}

}  // namespace

MachineCost machine_cost(const ptx::Instruction& in, const std::vector<bool>& addresses) {
    if (in.modifiers.empty() || is_folded(in, addresses)) return {};
    if (in.opcode == "cvt" && in.modifiers.size() >= 2) return of_conversion(in);
    if (moves_register(in)) return {.moves = 1};
    if (const auto cost = of_division_by_constant(in)) return *cost;
    for (const Row& row : rows)
        if (row.opcode == in.opcode && row.types.find(in.modifiers.back()) != row.types.npos &&
            (row.with.empty() || has(in, row.with)))
            return row.cost;
    return {};
}

std::vector<MachineCost> machine_costs(const ptx::Function& function) {
    const std::vector<bool> addresses = find_address_registers(function), fused = find_fused(function);
    std::vector<MachineCost> costs;
    for (std::size_t i = 0; i < function.body.size(); ++i)
        costs.push_back(fused[i] ? MachineCost{.moves = 1} : machine_cost(function.body[i], addresses));
    return costs;
}

}  // namespace warpgrade::vgpu

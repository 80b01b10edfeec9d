#include "vgpu/code/any_order.hpp"

#include <algorithm>
#include <string_view>

#include "vgpu/ptx/names.hpp"

namespace warpgrade::vgpu {
namespace {

// What a thread does on its own.
constexpr std::string_view own_work[] = {
    "abs",  "add",   "addc",     "and",  "bfe",   "bfi",  "bfind",  "bmsk",      "bra",       "brev", "brx",
    "clz",  "cnot",  "copysign", "cos",  "cvt",   "cvta", "div",    "dp2a",      "dp4a",      "ex2",  "exit",
    "fma",  "fns",   "isspacep", "lg2",  "lop3",  "mad",  "mad24",  "madc",      "max",       "min",  "mov",
    "mul",  "mul24", "neg",      "not",  "or",    "popc", "pragma", "prefetch",  "prefetchu", "prmt", "rcp",
    "rem",  "ret",   "rsqrt",    "sad",  "selp",  "set",  "setp",   "shf",       "shl",       "shr",  "sin",
    "slct", "sqrt",  "sub",      "subc", "szext", "tanh", "testp",  "vabsdiff2", "vabsdiff4", "xor"};
// Which threads these join is seen when they run.
constexpr std::string_view joint_work[] = {"bar", "barrier", "match", "redux", "shfl", "vote"};
constexpr std::string_view access_modifiers[] = {
    "weak", "global", "shared", "shared::cta", "local", "const", "param", "param::entry", "param::func",
    "nc",   "v2",     "v4",     "v8",          "ca",    "cg",    "cs",    "lu",           "wb"};
constexpr std::string_view thread_numbers[] = {"%tid",         "%ntid",        "%ctaid",       "%nctaid",
                                               "%laneid",      "%lanemask_eq", "%lanemask_le", "%lanemask_lt",
                                               "%lanemask_ge", "%lanemask_gt"};

template <class List>
bool holds(const List& list, std::string_view word) {
    return std::ranges::find(list, word) != std::end(list);
}

bool may_tell_order(const ptx::Operand& operand) {
    if (operand.kind == ptx::Operand::Kind::Special)
        return !holds(thread_numbers, std::string_view(operand.symbol).substr(0, operand.symbol.find('.')));
    return std::ranges::any_of(operand.elements, may_tell_order);
}

bool is_plain(const std::string& modifier) {
    return ptx::parse_type(modifier) != ptx::Type::None || holds(access_modifiers, modifier) ||
           modifier.starts_with("L1::") || modifier.starts_with("L2::");
}

bool is_independent(const ptx::Instruction& in) {
    if (std::ranges::any_of(in.operands, may_tell_order)) return false;
    if (in.opcode == "ld" || in.opcode == "st") return std::ranges::all_of(in.modifiers, is_plain);
    return holds(own_work, in.opcode) || holds(joint_work, in.opcode);
}

}  // namespace

bool is_order_independent(const ptx::Function& kernel) { return std::ranges::all_of(kernel.body, is_independent); }

}  // namespace warpgrade::vgpu

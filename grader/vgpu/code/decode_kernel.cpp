// Decodes a kernel with every function that it may reach, and the calls between them.
#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "vgpu/code/any_order.hpp"
#include "vgpu/code/block_costs.hpp"
#include "vgpu/code/block_paths.hpp"
#include "vgpu/code/chains.hpp"
#include "vgpu/code/constant_loads.hpp"
#include "vgpu/code/data_dependence.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/code/equal_addresses.hpp"
#include "vgpu/code/machine_code.hpp"
#include "vgpu/code/polls.hpp"

namespace warpgrade::vgpu {

using ptx::PtxError;
using ptx::Space;
using Kind = ptx::Operand::Kind;

namespace {

// Estimates a kernel's registers from the number that its PTX declares, within the hardware's bounds; how many are live
// at once is not known here. If the fatbinary has a cubin, the cubin's number is used instead.
std::uint32_t estimate_registers(const ptx::Function& f) {
    std::uint64_t words = 0;
    for (const auto& r : f.registers) words += r.type == ptx::Type::Pred ? 0 : (ptx::size_of(r.type) + 3) / 4;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(words / 2 + 8, 16, 255));
}

ParameterSlot slot_of(const ParameterPlace& place) { return {place.storage, place.stride, place.bytes}; }

void link_calls(CodeBuilder& builder) {
    for (const PendingCall& call : builder.pending) {
        CallSite& site = builder.code.calls[call.site];
        const auto& from = builder.parameters[call.caller];
        const auto place = [&](const std::string& name) -> const ParameterPlace& {
            const auto it = from.find(name);
            if (it == from.end() || it->second.kernel)
                throw PtxError(call.ptx_line, "call argument '" + name + "' is not a .param variable");
            return it->second;
        };
        for (const auto& a : call.arguments) site.arguments.push_back(slot_of(place(a)));
        for (const auto& r : call.results) site.results.push_back(slot_of(place(r)));
        if (site.builtin || site.callee == CallSite::through_pointer) continue;
        const FunctionCode& callee = builder.code.functions[site.callee];
        if (call.arguments.size() != callee.parameters.size() || call.results.size() != callee.returns.size())
            throw PtxError(call.ptx_line, "call of '" + call.callee + "' with a different number of parameters");
        for (std::size_t i = 0; i < site.arguments.size(); ++i)
            if (site.arguments[i].bytes != callee.parameters[i].bytes)
                throw PtxError(call.ptx_line, "call argument of a different size");
        for (std::size_t i = 0; i < site.results.size(); ++i)
            if (site.results[i].bytes != callee.returns[i].bytes)
                throw PtxError(call.ptx_line, "call result of a different size");
    }
}

// Functions whose address is taken by a variable's initial value or by an instruction: a pointer may lead to any of
// them.
std::vector<const ptx::Function*> functions_with_addresses(const ptx::Module& module) {
    std::vector<const ptx::Function*> found;
    std::unordered_set<std::string_view> seen;
    const auto note = [&](const std::string& name) {
        if (name.empty() || !seen.insert(name).second) return;
        const ptx::Function* f = module.find_function(name);
        if (f && !f->is_entry && !f->is_declaration) found.push_back(f);
    };
    for (const auto& v : module.variables)
        for (const auto& r : v.relocations) note(r.symbol);
    for (const auto& f : module.functions) {
        for (const auto& in : f.body)
            if (!in.is_call())
                for (const auto& o : in.operands) note(o.symbol);
        for (const auto& [label, targets] : f.call_targets)
            for (const auto& name : targets) note(name);
    }
    return found;
}

void decode_functions(CodeBuilder& builder, const ptx::Function& kernel) {
    const ptx::Module& module = builder.module;
    // Static shared variables are placed first, since the dynamic part begins after them. Function-scope variables are
    // placed for every function that the kernel may reach; a module-scope variable belongs to each kernel that names
    // it.
    std::vector<bool> used(module.variables.size(), false);
    const auto names_variable = [&](const ptx::Function& f, const std::string& name) {
        for (const auto& in : f.body)
            for (const auto& o : in.operands) {
                if (o.symbol == name) return true;
                for (const auto& e : o.elements)
                    if (e.symbol == name) return true;
            }
        return false;
    };
    builder.function(kernel);
    for (std::size_t i = 0; i < builder.queue.size(); ++i) {  // reachable functions, in the order of discovery
        const ptx::Function& f = *builder.queue[i];
        for (const auto& v : f.variables) builder.place_shared(v);
        for (const auto& v : module.variables)
            if (v.space == Space::Shared && !v.is_extern && names_variable(f, v.name)) builder.place_shared(v);
        bool through_pointer = false;
        for (const auto& in : f.body) {
            if (!in.is_call()) continue;
            through_pointer |= in.operands.size() > 1 && in.operands[1].kind == Kind::Register;
            for (const auto& o : in.operands)
                if (o.kind == Kind::Symbol)
                    if (const ptx::Function* callee = module.find_function(o.symbol); callee && !callee->is_declaration)
                        builder.function(*callee);
        }
        if (through_pointer && builder.code.function_at.empty()) {
            for (const ptx::Function* target : functions_with_addresses(module)) {
                const std::uint32_t index = builder.function(*target);
                if (const auto place = builder.symbols.find(target->name); place != builder.symbols.end())
                    builder.code.function_at.emplace(place->second.address, index);
            }
        }
    }
    builder.place_dynamic_shared();
    for (std::uint32_t i = 0; i < builder.queue.size(); ++i) FunctionDecoder(builder, *builder.queue[i], i).decode();
}

std::vector<std::optional<RegisterPlaces>> place_registers(const CodeBuilder& decoded) {
    std::vector<std::optional<RegisterPlaces>> places;
    for (std::size_t i = 0; i < decoded.queue.size(); ++i) {
        std::vector<std::uint8_t> width;
        for (const auto& r : decoded.queue[i]->registers)
            width.push_back(r.type == ptx::Type::Pred ? 0
                                                      : static_cast<std::uint8_t>(std::max(ptx::size_of(r.type), 2u)));
        places.push_back(place_registers(decoded.code, decoded.code.functions[i], width, decoded.accesses[i]));
    }
    return places;
}

}  // namespace

Code decode_kernel(const ptx::Module& module, const ptx::Function& kernel, const SymbolTable& symbols,
                   const OpcodeTable& opcodes, bool steps, const SavedRegisters* saved) {
    CodeBuilder first(module, symbols, opcodes, steps), builder(module, symbols, opcodes, steps);
    decode_functions(first, kernel);
    builder.places = place_registers(first);
    decode_functions(builder, kernel);
    Code& code = builder.code;
    for (std::size_t i = 0; i < builder.queue.size(); ++i) {
        const FunctionView view(code, code.functions[i], *builder.queue[i], builder.accesses[i]);
        find_predicated_branches(code, view);
        std::ranges::copy(find_merged_loads(code, view), std::back_inserter(code.merged_loads));
        std::ranges::copy(find_following_stores(code, view), std::back_inserter(code.following_stores));
        std::ranges::copy(find_uniform_loads(code, view), std::back_inserter(code.uniform_loads));
        find_block_paths(code, view);
        const LoopLoads loads = find_loop_loads(code, view);
        std::ranges::copy(loads.chained, std::back_inserter(code.chained_loads));
        std::ranges::copy(loads.irregular, std::back_inserter(code.irregular_loads));
        std::ranges::copy(loads.waits, std::back_inserter(code.load_waits));
        if (i > 0) add_call_cost(code, code.functions[i], saved);
        find_block_costs(code, code.functions[i]);
        code.polls |= polls(code, view);
    }
    code.data_dependence = find_data_dependence(code, code.functions[0], kernel, builder.accesses[0]);
    code.any_order = is_order_independent(kernel);
    link_calls(builder);
    code.register_estimate = estimate_registers(kernel);
    code.has_calls = !code.calls.empty();
    std::ranges::stable_sort(code.uses, {}, &RegisterUse::insn);
    find_equal_addresses(code);
    return std::move(code);
}

}  // namespace warpgrade::vgpu

#include "vgpu/code/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "vgpu/code/machine_cost.hpp"
#include "vgpu/code/uniform.hpp"

namespace warpgrade::vgpu {

using ptx::Operand;
using ptx::PtxError;
using ptx::Space;
using Kind = ptx::Operand::Kind;

namespace {

constexpr std::uint32_t max_frame_bytes = 16u << 20, max_local_bytes = 512u << 10, max_shared_bytes = 256u << 10,
                        max_parameter_bytes = 64u << 10;

std::uint32_t aligned(std::uint64_t value, std::uint64_t to) {
    return static_cast<std::uint32_t>((value + to - 1) / to * to);
}

// The gap between two shared variables has the size of the larger one, within these bounds: a typical wrong index is
// off by a row or a block.
constexpr std::uint64_t min_shared_gap = 1024, max_shared_gap = 8192;
constexpr std::size_t max_gapped_variables = 32;  // per kernel: hostile PTX may have thousands of variables

// Where a shared variable begins, given that it would begin at `offset` without gaps.
std::uint32_t offset_with_gap(const std::vector<SharedVariable>& before, std::uint32_t offset, std::uint64_t bytes,
                              std::uint32_t align) {
    if (before.empty()) return offset;
    const SharedVariable& last = before.back();
    if (before.size() > max_gapped_variables) return aligned(last.begin + last.bytes, align);
    const std::uint64_t space = std::clamp(std::max<std::uint64_t>(last.bytes, bytes), min_shared_gap, max_shared_gap);
    const std::uint32_t unit = std::max<std::uint32_t>(min_shared_gap, align);
    return aligned(last.begin + last.bytes + space, unit) + offset % unit;
}

}  // namespace

std::vector<std::uint32_t> parameter_offsets(const std::vector<ptx::Parameter>& parameters, std::uint32_t* total) {
    std::vector<std::uint32_t> offsets;
    std::uint64_t at = 0;
    for (const auto& p : parameters) {
        at = aligned(at, std::max<std::uint64_t>(p.align, 1));
        offsets.push_back(static_cast<std::uint32_t>(at));
        at += p.bytes;
    }
    *total = static_cast<std::uint32_t>(at);
    return offsets;
}

Ref CodeBuilder::constant(std::uint64_t bits, unsigned bytes) {
    if (bytes < 8) bits &= (std::uint64_t{1} << (8 * bytes)) - 1;
    const auto [it, fresh] = constants.try_emplace({bits, bytes}, 0);
    if (fresh) {
        const auto at = aligned(code.constants.size(), 64);
        code.constants.resize(at + std::size_t{bytes} * warp_size);
        for (unsigned l = 0; l < warp_size; ++l) std::memcpy(code.constants.data() + at + l * bytes, &bits, bytes);
        it->second = area::constants | at;
    }
    return it->second;
}

Ref CodeBuilder::table(std::span<const Ref> entries) {
    const auto at = aligned(code.constants.size(), 64);
    code.constants.resize(at + entries.size_bytes());
    std::memcpy(code.constants.data() + at, entries.data(), entries.size_bytes());
    return area::constants | at;
}

std::uint32_t CodeBuilder::function(const ptx::Function& f) {
    const auto [it, fresh] = function_index.try_emplace(f.name, static_cast<std::uint32_t>(queue.size()));
    if (fresh) queue.push_back(&f);
    return it->second;
}

void CodeBuilder::place_shared(const ptx::Variable& v) {
    if (v.space != Space::Shared || shared.contains(v.name)) return;
    if (v.is_extern) return;  // the dynamic part is placed after all static variables
    const std::uint64_t at = aligned(code.static_shared_bytes, std::max(v.align, 1u));
    if (at + v.bytes > max_shared_bytes)
        throw PtxError(v.ptx_line, fmt::format("shared variable '{}' of {} bytes does not fit", v.name, v.bytes));
    const std::uint32_t begin =
        offset_with_gap(code.shared_variables, static_cast<std::uint32_t>(at), v.bytes, v.align);
    shared.emplace(v.name, begin);
    code.static_shared_bytes = static_cast<std::uint32_t>(at + v.bytes);
    code.shared_variables.push_back({v.name, begin, static_cast<std::uint32_t>(v.bytes)});
}

void CodeBuilder::place_dynamic_shared() {
    code.dynamic_shared_begin =
        offset_with_gap(code.shared_variables, aligned(code.static_shared_bytes, 16), max_shared_gap, 16);
}

FunctionDecoder::FunctionDecoder(CodeBuilder& b, const ptx::Function& f, std::uint32_t index)
    : builder(b), function(f), index_(index), places_(f.registers.size(), ~Ref{0}) {
    if (builder.parameters.size() <= index_) builder.parameters.resize(index_ + 1);
    if (builder.accesses.size() <= index_) builder.accesses.resize(index_ + 1);
    for (const ptx::Instruction& in : f.body) rows_.push_back(builder.opcodes.find(in));
    place_variables();
    carry_ = allocate(4, 4);
    if (index_ >= builder.places.size() || !builder.places[index_]) return;
    const RegisterPlaces& places = *builder.places[index_];
    const Ref begin = allocate(places.bytes, 64);
    for (std::size_t r = 0; r < places_.size(); ++r)
        if (places.offset[r] != RegisterPlaces::unused) places_[r] = begin + places.offset[r];
}

Ref FunctionDecoder::allocate(std::uint32_t bytes, std::uint32_t align) {
    frame_bytes_ = aligned(frame_bytes_, align);
    const Ref at = frame_bytes_;
    frame_bytes_ += bytes;
    if (frame_bytes_ > max_frame_bytes) throw PtxError(function.ptx_line, function.name + ": too many registers");
    return area::registers | at;
}

void FunctionDecoder::place_variables() {
    auto& parameters = builder.parameters[index_];
    const auto in_frame = [&](const std::string& name, std::uint64_t bytes, std::uint32_t line) {
        if (bytes > max_parameter_bytes) throw PtxError(line, "parameter '" + name + "' is too large");
        const auto stride = aligned(std::max<std::uint64_t>(bytes, 1), 8);
        parameters[name] = {false, 0, static_cast<std::uint32_t>(bytes), allocate(stride * warp_size, 64), stride};
    };
    if (is_kernel()) {
        std::uint32_t total = 0;
        const auto offsets = parameter_offsets(function.parameters, &total);
        for (std::size_t i = 0; i < offsets.size(); ++i)
            parameters[function.parameters[i].name] = {true, offsets[i],
                                                       static_cast<std::uint32_t>(function.parameters[i].bytes), 0, 0};
    } else {
        for (const auto& p : function.parameters) in_frame(p.name, p.bytes, function.ptx_line);
        for (const auto& p : function.returns) in_frame(p.name, p.bytes, function.ptx_line);
    }
    std::uint64_t local = 0;
    for (const auto& v : function.variables) {
        if (v.space == Space::Local) {
            local = aligned(local, std::max(v.align, 1u));
            locals_[v.name] = static_cast<std::uint32_t>(local);
            local += v.bytes;
            if (local > max_local_bytes)
                throw PtxError(v.ptx_line, fmt::format("local memory of {} bytes a thread is above the limit of {}",
                                                       local, max_local_bytes));
        } else if (v.space == Space::Shared) {
            builder.place_shared(v);
        } else if (v.space == Space::Param) {
            in_frame(v.name, v.bytes, v.ptx_line);
        }
    }
    // A function's parameter whose address is taken needs a copy in local memory.
    for (const auto& in : function.body) {
        if (is_kernel() || in.is_call()) continue;
        for (const auto& o : in.operands)
            for (const auto& p : function.parameters) {
                if (o.kind != Kind::Symbol || o.symbol != p.name || locals_.contains(p.name)) continue;
                local = aligned(local, std::max(p.align, 8u));
                locals_[p.name] = static_cast<std::uint32_t>(local);
                local += p.bytes;
            }
    }
    local_end_ = static_cast<std::uint32_t>(local);
    local_bytes_ = aligned(local, 16);
}

unsigned FunctionDecoder::register_bytes(std::uint32_t reg) const {
    if (reg >= function.registers.size()) return 0;
    const unsigned bytes = ptx::size_of(function.registers[reg].type);
    return bytes == 1 ? 2 : bytes;
}

bool FunctionDecoder::is_predicate(std::uint32_t reg) const {
    return reg < function.registers.size() && function.registers[reg].type == ptx::Type::Pred;
}

bool FunctionDecoder::is_read(const Operand& destination) const {
    if (destination.kind != Operand::Kind::Register || index_ >= builder.places.size()) return true;
    const auto& places = builder.places[index_];
    return !places || places->read[destination.reg];
}

bool FunctionDecoder::is_uniform(const Operand& address) {
    if (address.kind != Operand::Kind::Address) return false;
    if (address.reg == Operand::no_register) return true;
    if (!is_kernel()) return false;
    if (!uniform_) uniform_ = find_uniform_registers(function);
    return address.reg < uniform_->size() && (*uniform_)[address.reg];
}

Ref FunctionDecoder::register_place(std::uint32_t reg, std::uint32_t ptx_line, RegisterAccess::Kind access) {
    if (reg >= places_.size()) throw PtxError(ptx_line, "register is not declared");
    builder.accesses[index_].push_back({static_cast<std::uint32_t>(builder.code.insns.size()), reg, access});
    if (places_[reg] == ~Ref{0}) {
        const unsigned bytes = register_bytes(reg);
        places_[reg] = is_predicate(reg) ? allocate(4, 4) : allocate(bytes * warp_size, 64);
    }
    builder.code.uses.push_back({static_cast<std::uint32_t>(builder.code.insns.size()), places_[reg],
                                 access != RegisterAccess::Kind::Read, is_predicate(reg)});
    return places_[reg];
}

Ref FunctionDecoder::sink(unsigned) {
    if (!sink_) sink_ = allocate(16 * warp_size, 64);
    return *sink_;
}

Ref FunctionDecoder::carry() { return carry_; }

void CodeBuilder::read_argument(const ParameterPlace& place, std::size_t from, std::size_t bytes) {
    const std::size_t begin = place.offset + from, end = begin + bytes;
    if (code.read_arguments.size() < end) code.read_arguments.resize(end);
    std::fill_n(code.read_arguments.begin() + static_cast<std::ptrdiff_t>(begin), bytes, true);
}

std::optional<ParameterPlace> FunctionDecoder::parameter(const std::string& name) const {
    const auto& parameters = builder.parameters[index_];
    const auto it = parameters.find(name);
    return it == parameters.end() ? std::nullopt : std::optional(it->second);
}

std::optional<SymbolPlace> FunctionDecoder::symbol(const std::string& name) const {
    if (const auto it = locals_.find(name); it != locals_.end()) return SymbolPlace{Space::Local, it->second, 0};
    if (const auto it = builder.shared.find(name); it != builder.shared.end())
        return SymbolPlace{Space::Shared, it->second, 0};
    if (const auto p = parameter(name); p && p->kernel) {
        builder.read_argument(*p, 0, p->bytes);
        return SymbolPlace{Space::Param, p->offset, p->bytes};
    }
    if (const auto it = builder.symbols.find(name); it != builder.symbols.end()) {
        if (it->second.space == Space::Shared) {  // extern
            builder.code.names_dynamic_shared = true;
            return SymbolPlace{Space::Shared, builder.code.dynamic_shared_begin, 0};
        }
        return it->second;
    }
    return std::nullopt;
}

std::uint32_t FunctionDecoder::statistics(Space space, AccessClass access) {
    const auto slot = static_cast<std::uint32_t>(builder.code.stat_kinds.size());
    const auto add = [&](StatKind load, StatKind store, StatKind atomic) {
        statistics(access == AccessClass::Load ? load : access == AccessClass::Store ? store : atomic);
    };
    const bool generic = space == Space::Generic;
    if (generic || space == Space::Global) add(StatKind::GlobalLoad, StatKind::GlobalStore, StatKind::GlobalAtomic);
    if (generic || space == Space::Shared) add(StatKind::SharedLoad, StatKind::SharedStore, StatKind::SharedAtomic);
    if (generic || space == Space::Local) add(StatKind::LocalLoad, StatKind::LocalStore, StatKind::None);
    if (space == Space::Const) add(StatKind::ConstantLoad, StatKind::None, StatKind::None);
    return slot;
}

std::uint32_t FunctionDecoder::statistics(StatKind kind) {
    builder.code.stat_kinds.push_back(kind);
    builder.code.stat_insns.push_back(static_cast<std::uint32_t>(builder.code.insns.size()));
    builder.code.stat_bytes.push_back(0);
    return static_cast<std::uint32_t>(builder.code.stat_kinds.size() - 1);
}

void FunctionDecoder::split_blocks() {
    const auto& body = function.body;
    leader_.assign(body.size() + 1, false);
    leader_[0] = true;
    const auto mark = [&](std::uint32_t target, std::uint32_t line) {
        if (target > body.size()) throw PtxError(line, "branch target outside the function");
        leader_[target] = true;
    };
    for (std::uint32_t i = 0; i < body.size(); ++i) {
        for (const auto& o : body[i].operands)
            if (o.kind == Kind::Label) mark(o.target, body[i].ptx_line);
        const bool accesses = rows_[i] && rows_[i]->facts.granule != granule::none;
        if (ends(i) != Terminator::Fall || (builder.steps && accesses)) leader_[i + 1] = true;
    }
    for (const auto& [name, targets] : function.branch_targets)
        for (const auto t : targets) mark(t, function.ptx_line);
    block_of_.assign(body.size() + 1, ~0u);
    auto next = static_cast<std::uint32_t>(builder.code.blocks.size());
    for (std::uint32_t i = 0; i <= body.size(); ++i) {
        if (leader_[i]) block_of_[i] = next++;
        if (i < body.size() && needs_skip(i)) ++next;  // the guarded instruction has a block of its own
    }
}

std::uint32_t FunctionDecoder::block_at(std::uint32_t instruction, std::uint32_t ptx_line) const {
    if (instruction >= block_of_.size() || block_of_[instruction] == ~0u)
        throw PtxError(ptx_line, "branch target outside the function");
    return block_of_[instruction];
}

void FunctionDecoder::append(const Insn& out, const ptx::Instruction& in) {
    builder.code.insns.push_back(out);
    builder.code.locations.push_back(in.location);
    builder.code.ptx_lines.push_back(in.ptx_line);
}

void FunctionDecoder::apply_guard(const ptx::Instruction& in, Insn& out) {
    if (in.guard == Operand::no_register) return;
    if (!is_predicate(in.guard)) throw PtxError(in.ptx_line, "the guard must be a predicate");
    out.guard = register_place(in.guard, in.ptx_line, RegisterAccess::Kind::Read);
    out.guard_negated = in.guard_negated;
    out.has_guard = true;
}

// Records what observers of memory need to know of an instruction, from its row. `first_slot` is its first memory slot.
void FunctionDecoder::note_memory(const InsnBuilder& b, const OpcodeRow& row, std::size_t first_slot) {
    Code& code = builder.code;
    code.orders_memory |= row.facts.fence || b.has("acquire") || b.has("release") || b.has("acq_rel");
    const bool is_volatile = b.has("volatile") || b.has("mmio") || b.has("cv") || b.has("wt");
    code.talks_to_host |= b.has("sys") || (is_volatile && !b.has("shared") && !b.has("shared::cta"));
    if (first_slot == code.stat_kinds.size()) return;
    if (row.facts.granule == granule::none)
        throw std::logic_error("the row of '" + b.text() + "' does not say how much memory a lane accesses");
    const bool of_type = row.facts.granule == granule::of_type;
    const unsigned bytes = of_type ? ptx::size_of(b.type()) : row.facts.granule;
    for (std::size_t slot = first_slot; slot < code.stat_kinds.size(); ++slot) {
        const StatKind kind = code.stat_kinds[slot];
        if (kind == StatKind::None || kind == StatKind::ConstantLoad) continue;
        const bool local = kind == StatKind::LocalLoad || kind == StatKind::LocalStore;
        unsigned& shift = local ? code.local_granule_shift : code.granule_shift;
        shift = std::min(shift, static_cast<unsigned>(std::countr_zero(bytes)));
    }
    if (!of_type) return;
    const unsigned elements = b.has("v4") ? 4 : b.has("v2") ? 2 : 1;
    std::fill(code.stat_bytes.begin() + static_cast<std::ptrdiff_t>(first_slot), code.stat_bytes.end(),
              elements * ptx::size_of(b.type()));
}

void FunctionDecoder::decode_instruction(std::uint32_t position) {
    const ptx::Instruction& in = function.body[position];
    InsnBuilder b(*this, in);
    const OpcodeRow* row = rows_[position];
    if (!row) throw builder.opcodes.refusal_of(in, b.text());
    const std::size_t first_slot = builder.code.stat_kinds.size();
    b.out.flow = row->facts.flow;
    row->decode(b);
    note_memory(b, *row, first_slot);
    // Programs ask which lanes happen to be together, and expect all that go on: so it is on a device.
    builder.code.needs_whole_warps |= b.has("aligned") || row->mnemonic == "activemask";
    const OpcodeFacts& facts = row->facts;
    const bool touches_memory = first_slot != builder.code.stat_kinds.size() || facts.fence;
    if (b.out.flow == Flow::Uses && facts.ends == Terminator::Fall && !touches_memory && !b.has("sync"))
        b.out.flow = Flow::Computes;
    apply_guard(in, b.out);
    if (b.out.has_guard) {
        b.out.inner = b.out.masked;
        b.out.full = b.out.masked = builder.opcodes.guarded();
    }
    append(b.out, in);
}

void FunctionDecoder::decode() {
    split_blocks();
    const std::vector<MachineCost> costs = machine_costs(function);
    Code& code = builder.code;
    if (code.functions.size() <= index_) code.functions.resize(index_ + 1);
    const auto first_block = static_cast<std::uint32_t>(code.blocks.size());
    for (std::uint32_t i = 0; i <= function.body.size(); ++i) {
        if (leader_[i]) {
            if (!code.blocks.empty() && code.blocks.size() > first_block) {
                BasicBlock& before = code.blocks.back();
                if (before.terminator == Terminator::Fall) {
                    before.end = static_cast<std::uint32_t>(code.insns.size());
                    before.size = before.end - before.begin;
                }
            }
            BasicBlock block;
            block.begin = static_cast<std::uint32_t>(code.insns.size());
            code.blocks.push_back(block);
        }
        if (i == function.body.size()) break;
        if (needs_skip(i)) decode_skip(i);
        if (ends(i) != Terminator::Fall)
            decode_terminator(i);
        else
            decode_instruction(i);
        code.blocks.back().cost.add(costs[i], 1);
    }
    // Control that runs off the end returns. nvcc always ends a function with ret.
    BasicBlock& last = code.blocks.back();
    last.end = static_cast<std::uint32_t>(code.insns.size());
    last.size = last.end - last.begin;
    last.terminator = Terminator::Return;
    append(Insn{}, ptx::Instruction{});
    FunctionCode& f = code.functions[index_];
    f.name = function.name;
    f.first_block = f.entry_block = first_block;
    f.end_block = static_cast<std::uint32_t>(code.blocks.size());
    f.frame_bytes = aligned(std::max(frame_bytes_, 64u), 64);
    f.local_bytes = local_bytes_;
    f.local_end = local_end_;
    const auto slots = [&](const std::vector<ptx::Parameter>& parameters, std::vector<ParameterSlot>& to) {
        for (const auto& p : parameters) {
            const ParameterPlace& place = builder.parameters[index_].at(p.name);
            to.push_back({place.storage, place.stride, place.bytes});
            if (const auto local = locals_.find(p.name); local != locals_.end()) to.back().local = local->second;
        }
    };
    if (!is_kernel()) {
        slots(function.parameters, f.parameters);
        slots(function.returns, f.returns);
    }
    code.local_bytes = std::max(code.local_bytes, local_bytes_);
}

}  // namespace warpgrade::vgpu

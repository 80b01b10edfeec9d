// All rows of the tables of opcodes and of special registers must be complete and consistent.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "support/contains.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"

using namespace warpgrade;
using vgpu::Flow;
using vgpu::OpcodeFacts;
using vgpu::OpcodeRow;
using vgpu::StatKind;
using vgpu::Terminator;
using vgpu::test::Machine;
namespace granule = vgpu::granule;

namespace {

std::vector<std::string> words(std::string_view list) {
    std::vector<std::string> found;
    while (!list.empty()) {
        const auto end = std::min(list.find(' '), list.size());
        found.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return found;
}

bool names(std::string_view list, std::string_view word) { return std::ranges::count(words(list), word) != 0; }

std::string name_of(const OpcodeRow& row) { return std::string(row.mnemonic) + " " + std::string(row.required); }

template <class F>
void for_rows(F&& f) {
    for (const vgpu::OpcodeFamily& family : vgpu::opcode_table().families())
        for (const OpcodeRow& row : family.rows) {
            INFO(family.name << ": " << name_of(row) << " (" << row.types << ")");
            f(family, row);
        }
}

bool leaves(Terminator how) { return how == Terminator::Return || how == Terminator::Exit || how == Terminator::Trap; }

// How PTX names them: a .sync that is not .aligned joins lanes of which some may be missing.
bool is_collective(const OpcodeRow& row) {
    const bool block_barrier = (row.mnemonic == "bar" || row.mnemonic == "barrier") && !names(row.required, "warp");
    return names(row.required, "sync") && !names(row.required, "aligned") && !block_barrier;
}

// Families whose opcodes access memory.
bool is_of_memory(const vgpu::OpcodeFamily& family) {
    return std::ranges::any_of(
        std::array{vgpu::memory_opcodes(), vgpu::atomic_opcodes(), vgpu::async_opcodes(), vgpu::texture_opcodes(),
                   vgpu::surface_opcodes(), vgpu::matrix_memory_opcodes()},
        [&](const std::span<const OpcodeRow>& rows) { return rows.data() == family.rows.data(); });
}

constexpr const char* head =
    ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n.reg .b16 %h<9>;\n"
    ".reg .b32 %r<9>;\n.reg .b64 %l<9>;\n.reg .f32 %f<9>;\n.reg .f64 %d<9>;\n.reg .b128 %q<9>;\n.reg .pred %p<9>;\n";

// One line of PTX for each row that accesses memory, and some for rows beside them that do not.
std::vector<std::string> examples() {
    std::vector<std::string> lines = {
        "ld.global.u32 %r1, [%l1];",
        "ld.shared.v2.u8 {%h1, %h2}, [%r1];",
        "ld.v4.f32 {%f1, %f2, %f3, %f4}, [%l1];",
        "ldu.global.b64 %l2, [%l1];",
        "st.global.u32 [%l1], %r1;",
        "st.shared.v2.b16 [%r1], {%h1, %h2};",
        "membar.gl;",
        "fence.sc.gpu;",
        "atom.global.add.noftz.f16 %h1, [%l1], %h2;",
        "red.global.add.noftz.bf16x2 [%l1], %r2;",
        "atom.global.add.v2.f32 {%f1, %f2}, [%l1], {%f3, %f4};",
        "atom.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%l1], {%f1, %f2, %f3, %f4};",
        "red.global.add.v2.f32 [%l1], {%f3, %f4};",
        "red.global.add.v4.f32 [%l1], {%f1, %f2, %f3, %f4};",
        "atom.global.exch.b128 %q1, [%l1], %q2;",
        "atom.global.cas.b128 %q1, [%l1], %q2, %q3;",
        "atom.shared.exch.b32 %r1, [%r2], %r3;",
        "atom.global.cas.b16 %h1, [%l1], %h2, %h3;",
        "cp.async.ca.shared.global [%r1], [%l1], 4;",
        "cp.async.cg.shared.global [%r1], [%l1], 16;",
        "cp.async.commit_group;",
        "cp.async.wait_group 1;",
        "cp.async.wait_all;",
        "cp.async.mbarrier.arrive.shared.b64 [%r1];",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%l1], %r2, [%r3];",
        "mbarrier.init.shared.b64 [%r1], %r2;",
        "mbarrier.inval.shared.b64 [%r1];",
        "mbarrier.arrive.shared.b64 %l1, [%r1];",
        "mbarrier.arrive_drop.shared.b64 %l1, [%r1];",
        "mbarrier.arrive.expect_tx.shared.b64 %l1, [%r1], %r2;",
        "mbarrier.expect_tx.shared.b64 [%r1], %r2;",
        "mbarrier.complete_tx.shared.b64 [%r1], %r2;",
        "mbarrier.test_wait.shared.b64 %p1, [%r1], %l1;",
        "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], %r2;",
        "mbarrier.try_wait.shared.b64 %p1, [%r1], %l1;",
        "mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;",
        "mbarrier.pending_count.b64 %r1, %l1;",
        "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%l1, {%r1}];",
        "tex.level.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%l1, {%f1}], %f2;",
        "suld.b.1d.b8.trap %h1, [%l1, {%r1}];",
        "sust.b.1d.v2.b32.trap [%l1, {%r1}], {%r2, %r3};",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1};",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;",
        "wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%d1, %d2}, [%l1];",
        "wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%l1], {%d1, %d2};",
    };
    for (const std::string o :
         {"add.u32", "and.b32", "or.b32", "xor.b32", "min.s32", "max.u32", "inc.u32", "dec.u32"}) {
        lines.push_back("atom.global." + o + " %r1, [%l1], %r2;");
        lines.push_back("red.shared." + o + " [%r1], %r2;");
    }
    for (const std::string m : {"a.sync.aligned.row", "b.sync.aligned.col"}) {
        lines.push_back("wmma.load." + m + ".m16n16k16.global.u8 {%r1, %r2}, [%l1];");
        lines.push_back("wmma.load." + m + ".m8n8k4.global.f64 {%d1}, [%l1];");
        lines.push_back("wmma.load." + m + ".m16n16k8.global.tf32 {%r1, %r2, %r3, %r4}, [%l1];");
        lines.push_back("wmma.load." + m + ".m8n8k32.global.s4 {%r1}, [%l1];");
        lines.push_back("wmma.load." + m + ".m8n8k32.global.u4 {%r1}, [%l1];");
        lines.push_back("wmma.load." + m + ".m8n8k128.global.b1 {%r1}, [%l1];");
    }
    return lines;
}

vgpu::Code decode(const vgpu::ptx::Module& module) {
    return vgpu::decode_kernel(module, *module.find_function("k"), {}, vgpu::opcode_table());
}

}  // namespace

TEST_CASE("each row of the opcodes, and each that is refused, is an instruction of PTX") {
    for_rows([](const vgpu::OpcodeFamily&, const OpcodeRow& row) {
        if (row.mnemonic != "pragma")  // a directive among instructions
            CHECK(vgpu::opcode_table().is_mnemonic(row.mnemonic));
        CHECK(!row.summary.empty());
        for (const std::string& type : words(row.types)) CHECK(vgpu::ptx::parse_type(type) != vgpu::ptx::Type::None);
    });
    for (const vgpu::RefusedOpcode& entry : vgpu::refused_opcodes()) {
        CAPTURE(entry.mnemonic);
        CHECK(vgpu::opcode_table().is_mnemonic(entry.mnemonic));
    }
}

TEST_CASE("no two rows of the opcodes are for the same instruction") {
    std::set<std::tuple<std::string_view, std::set<std::string>, std::string>> seen;
    for_rows([&](const vgpu::OpcodeFamily&, const OpcodeRow& row) {
        const auto required = words(row.required);
        auto types = words(row.types);
        if (types.empty()) types.emplace_back();
        for (const std::string& type : types)
            CHECK(seen.emplace(row.mnemonic, std::set(required.begin(), required.end()), type).second);
        for (const std::string& word : required) CHECK(!names(row.optional, word));
    });
}

TEST_CASE("the facts of each row fit together") {
    std::map<std::string_view, Flow> flows;  // by mnemonic: all forms of an opcode have the same flow
    for_rows([&](const vgpu::OpcodeFamily& family, const OpcodeRow& row) {
        const OpcodeFacts& f = row.facts;
        CHECK(flows.emplace(row.mnemonic, f.flow).first->second == f.flow);
        CHECK((row.decode || leaves(f.ends)));  // the others have operands
        CHECK(is_collective(row) == (f.ends == Terminator::Collective));
        if (f.ends != Terminator::Collective) CHECK((f.function.empty() && !f.orders_warp));
        if (f.ends != Terminator::Fall) CHECK((f.granule == granule::none && !f.fence));
        if (f.ends != Terminator::Fall && row.mnemonic != "shfl") CHECK(f.flow == Flow::Uses);
        CHECK(f.ends != Terminator::Skip);  // the decoder's own
        CHECK((family.rows.data() == vgpu::control_opcodes().data()) ==
              (f.ends != Terminator::Fall && f.ends != Terminator::Collective));
        const bool memory = f.granule != granule::none;
        if (memory) CHECK(is_of_memory(family));
        if (f.flow == Flow::Loads || f.flow == Flow::Stores) CHECK(memory);
        if (f.granule == granule::of_type)
            CHECK(!row.types.empty());
        else if (memory)
            CHECK(std::has_single_bit(f.granule));
        if (f.fence) CHECK(!memory);
        if (family.rows.data() == vgpu::memory_opcodes().data()) CHECK(memory != f.fence);
    });
}

TEST_CASE("each row that accesses memory says so, and how") {
    std::set<const OpcodeRow*> seen;
    for (const std::string& line : examples()) {
        CAPTURE(line);
        const auto module = vgpu::ptx::parse(head + line + "\nret;\n}\n");
        const vgpu::ptx::Instruction& in = module.find_function("k")->body[0];
        const OpcodeRow* row = vgpu::opcode_table().find(in);
        REQUIRE(row);
        seen.insert(row);
        const vgpu::Code code = decode(module);  // throws if it accesses memory and the row says nothing about that
        CHECK((row->facts.granule != granule::none) == !code.stat_kinds.empty());
        CHECK(row->facts.fence == code.orders_memory);
        const vgpu::Insn& insn = code.insns[0];
        CHECK((insn.flow == Flow::Computes ? Flow::Uses : insn.flow) == row->facts.flow);
        if (code.stat_kinds.empty()) continue;
        CHECK(insn.memory_slot == 0);
        const StatKind kind = code.stat_kinds[0];
        const bool load = kind == StatKind::GlobalLoad || kind == StatKind::SharedLoad;
        const bool store = kind == StatKind::GlobalStore || kind == StatKind::SharedStore;
        const auto type = std::ranges::find_if(
            in.modifiers, [](const std::string& m) { return vgpu::ptx::parse_type(m) != vgpu::ptx::Type::None; });
        const bool of_type = row->facts.granule == granule::of_type;
        const unsigned bytes = of_type ? vgpu::ptx::size_of(vgpu::ptx::parse_type(*type)) : row->facts.granule;
        CHECK(1u << code.granule_shift == std::min(bytes, 4u));
        // Loads and stores of plain elements have a value in a register.
        CHECK((row->facts.flow == Flow::Loads) == (of_type && load));
        CHECK((row->facts.flow == Flow::Stores) == (of_type && store));
        const bool v2 = std::ranges::count(in.modifiers, "v2") != 0, v4 = std::ranges::count(in.modifiers, "v4") != 0;
        CHECK(code.stat_bytes[0] == (of_type ? bytes * (v4 ? 4 : v2 ? 2 : 1) : 0));
    }
    for_rows([&](const vgpu::OpcodeFamily& family, const OpcodeRow& row) {
        if (is_of_memory(family)) CHECK(seen.contains(&row));  // a new row needs an example above
    });
}

TEST_CASE("collectives know their functions in CUDA C++, and which of them orders memory") {
    const auto module = vgpu::ptx::parse(std::string(head) +
                                         "shfl.sync.up.b32 %r1, %r2, 1, 0, -1;\nelect.sync %r1|%p1, -1;\n"
                                         "bar.warp.sync -1;\nshfl.sync.up.b32 %r1, %r2, 2, 0, -1;\nret;\n}\n");
    const vgpu::Code code = decode(module);
    REQUIRE(code.collectives.size() == 3);
    CHECK(code.collectives[0].opcode == "shfl.sync.up.b32");
    CHECK(code.collectives[0].function == "__shfl_up_sync()");
    CHECK(code.collectives[1].function.empty());
    CHECK(code.collectives[2].function == "__syncwarp()");
    CHECK(code.warp_sync == 2);
    CHECK(code.insns[3].collective == 0);
}

namespace {

using vgpu::ptx::Special;
using vgpu::ptx::SpecialRegister;

constexpr device::Dim3 grid{2, 3, 2}, block{8, 4, 2};
constexpr std::uint32_t threads = 64, dynamic_bytes = 200;

// The value that thread t of block (x, y, z) reads. There is no default, so that the compiler names a forgotten
// Special.
std::uint32_t expected(Special s, const device::Dim3& at, std::uint32_t t, std::uint32_t multiprocessors) {
    const std::uint32_t lane = t % 32;
    switch (s) {
        // clang-format off
        case Special::TidX: return t % block.x;
        case Special::TidY: return t / block.x % block.y;
        case Special::TidZ: return t / block.x / block.y;
        case Special::NtidX: return block.x;
        case Special::NtidY: return block.y;
        case Special::NtidZ: return block.z;
        case Special::CtaidX: return at.x;
        case Special::CtaidY: return at.y;
        case Special::CtaidZ: return at.z;
        case Special::NctaidX: return grid.x;
        case Special::NctaidY: return grid.y;
        case Special::NctaidZ: return grid.z;
        case Special::LaneId: return lane;
        case Special::WarpId: return t / 32;
        case Special::NwarpId: return threads / 32;
        case Special::SmId: return (at.x + grid.x * (at.y + grid.y * at.z)) % multiprocessors;
        case Special::NsmId: return multiprocessors;
        case Special::LanemaskEq: return 1u << lane;
        case Special::LanemaskLt: return (1u << lane) - 1;
        case Special::LanemaskLe: return (2u << lane) - 1;
        case Special::LanemaskGe: return ~((1u << lane) - 1);
        case Special::LanemaskGt: return ~((2u << lane) - 1);
        case Special::DynamicSmemSize: return dynamic_bytes;
        case Special::TotalSmemSize: return dynamic_bytes;
        case Special::EnvReg1: return 0;  // of cooperative launches
        case Special::EnvReg2: return 0;
        case Special::ReservedSharedOffset: return 1280;  // behind a gap
        case Special::Count: break;
            // clang-format on
    }
    FAIL("no such register");
    return 0;
}

// A kernel in which each thread stores the register: by block, then by thread.
std::string reading(const std::string& name) {
    return std::string(head) +
           ".reg .b32 %i, %n, %v;\n.reg .b64 %to, %at;\n"
           "mov.u32 %i, %ctaid.z;\nmov.u32 %n, %ctaid.y;\nmad.lo.u32 %i, %i, 3, %n;\nmov.u32 %n, %ctaid.x;\n"
           "mad.lo.u32 %i, %i, 2, %n;\nmov.u32 %n, %tid.z;\nmad.lo.u32 %i, %i, 2, %n;\nmov.u32 %n, %tid.y;\n"
           "mad.lo.u32 %i, %i, 4, %n;\nmov.u32 %n, %tid.x;\nmad.lo.u32 %i, %i, 8, %n;\nmov.u32 %v, " +
           name +
           ";\nld.param.u64 %to, [out];\nmul.wide.u32 %at, %i, 4;\nadd.u64 %to, %to, %at;\nst.global.u32 [%to], %v;\n"
           "ret;\n}\n";
}

std::vector<std::uint32_t> read_special(const std::string& name) {
    Machine m(1, reading(name));
    const auto out = m.upload(std::vector<std::uint32_t>(grid.count() * threads, 0xdead));
    m.launch_shared("k", grid, block, dynamic_bytes, out);
    return m.download(out);
}

// The names that a row stands for, or some of them if there are many.
std::vector<std::string> names_of(const SpecialRegister& row) {
    const std::string name(row.name);
    if (row.form == SpecialRegister::Name::Vector) return {name, name + ".x", name + ".y", name + ".z", name + ".w"};
    if (row.form == SpecialRegister::Name::Numbered) return {name + "7"};
    return {name};
}

}  // namespace

TEST_CASE("each special register holds what its row says") {
    using Kind = SpecialRegister::Kind;
    const auto multiprocessors = read_special("%nsmid")[0];
    REQUIRE(multiprocessors > 0);
    std::set<Special> seen;
    for (const SpecialRegister& row : vgpu::ptx::special_registers())
        for (const std::string& name : names_of(row)) {
            CAPTURE(name);
            const auto known = vgpu::ptx::find_special(name);
            REQUIRE(known);
            if (known->kind == Kind::Refused) {
                CHECK_THROWS_WITH(read_special(name), Contains("special register " + name + " is not supported"));
                continue;
            }
            const auto got = read_special(name);
            if (known->kind == Kind::Clock || known->kind == Kind::ClockHigh) {
                CHECK((got[0] != 0) == (known->kind == Kind::Clock));
                continue;
            }
            if (known->kind == Kind::Filled) seen.insert(known->special);
            std::vector<std::uint32_t> wanted;
            for (std::uint32_t b = 0; b < grid.count(); ++b)
                for (std::uint32_t t = 0; t < threads; ++t) {
                    const device::Dim3 at{b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y};
                    wanted.push_back(known->kind == Kind::Filled ? expected(known->special, at, t, multiprocessors)
                                                                 : static_cast<std::uint32_t>(known->value));
                }
            CHECK(got == wanted);
        }
    CHECK(seen.size() == static_cast<std::size_t>(Special::Count));  // each has a name
    CHECK(!vgpu::ptx::find_special("%tid.q"));
    CHECK(!vgpu::ptx::find_special("%laneid.x"));
    CHECK(!vgpu::ptx::find_special("%warpids"));
}

// Moves matrices between memory and the registers of a warp: wmma.load and wmma.store, ldmatrix and stmatrix, and
// movmatrix, which transposes in registers.
//
// wmma's layout is open, and so are its accesses. Each lane accesses the elements of a register at once if they are
// adjacent in memory, two registers of an accumulator likewise, and otherwise element by element. Each access is a
// request.
#include <cstring>

#include "vgpu/ops/matrix.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ops/resolve.hpp"

namespace warpgrade::vgpu {
namespace {

using ptx::Space;

constexpr std::uint16_t narrow_bit = 1;  // of form: a 32-bit address

constexpr unsigned max_access_bytes = 16;  // of one lane's access
struct Staged {
    alignas(16) std::byte lane[warp_size][max_access_bytes];
};

template <Op O>
void move_staged(std::byte* origin, const Access& part, unsigned bytes, Staged& staged) {
    for_active(part.mask, [&](unsigned l) {
        std::byte* at = host_place(origin, part.address[l]);
        if constexpr (O == Op::Load)
            std::memcpy(staged.lane[l], at, bytes);
        else
            std::memcpy(at, staged.lane[l], bytes);
    });
}

// One access of a warp to global or shared memory. A generic address must point there. `slot` has its statistics.
template <Op O>
void access_staged(Warp& w, const Insn& in, std::uint32_t slot, Space space, const Access& x, unsigned bytes,
                   Staged& staged) {
    const auto body = [&](std::byte* origin, const Access& part) { move_staged<O>(origin, part, bytes, staged); };
    switch (space) {
        case Space::Global:
            return perform_access<O, Space::Global>(
                w, in, slot, x, bytes, body, {},
                O == Op::Load ? LineRequest::Kind::Read : write_kind(x.fills_sectors(bytes)));
        case Space::Shared:
            return perform_access<O, Space::Shared>(w, in, slot, x, bytes, body);
        case Space::Generic:
            return split_generic(x, bytes, [&](Space where, const Access& part) {
                access_staged<O>(w, in, slot + (where == Space::Shared ? 1 : 0), where, part, bytes, staged);
            });
        default:
            raise_at(w, &in, device::error::illegal_address, static_cast<unsigned>(std::countr_zero(x.mask)),
                     "uses a local address in a matrix instruction, which reaches global and shared memory only");
    }
}

// The value of the address operand in each lane.
void lane_addresses(const Warp& w, const Insn& in, std::uint64_t* addresses) {
    const auto offset = static_cast<std::uint64_t>(in.offset);
    for (unsigned l = 0; l < warp_size; ++l)
        addresses[l] = in.form & narrow_bit ? static_cast<std::uint32_t>(operand<std::uint32_t>(w, in.a)[l] + offset)
                                            : operand<std::uint64_t>(w, in.a)[l] + offset;
}

// The form of wmma.load and wmma.store, in the constant pool.
struct TransferForm {
    Fragment fragment;
    std::uint32_t along_lines;  // elements of a line are adjacent in memory
    std::uint32_t space;
    FragmentRegisters at;
};

// Calls f(access, bytes, offset in the lane's fragment) for each access. b: the leading dimension, in elements.
template <class F>
void for_accesses(const Warp& w, const Insn& in, const TransferForm& form, F&& f) {
    const Fragment& fragment = form.fragment;
    const unsigned bits = bits_of(fragment.element), packed = fragment.in_register();
    const unsigned together = !form.along_lines ? 1 : packed == 1 && fragment.matrix == Matrix::C ? 2 : packed;
    const auto* stride = operand<std::uint32_t>(w, in.b);
    std::uint64_t base[warp_size], addresses[warp_size];
    lane_addresses(w, in, base);
    for (unsigned first = 0; first < fragment.elements(); first += together) {
        for (unsigned l = 0; l < warp_size; ++l) {
            const Place p = fragment.place(l, first);
            const std::uint64_t distance = form.along_lines ? std::uint64_t{p.line} * stride[l] + p.along
                                                            : std::uint64_t{p.along} * stride[l] + p.line;
            addresses[l] = base[l] + distance * bits / 8;
        }
        const unsigned bytes = together * bits / 8;
        Access x;
        x.collect(addresses, 0, full_mask, bytes);
        f(x, bytes, first * bits / 8);
    }
}

// The bytes of each lane's fragment, with its registers in a row.
struct LaneBytes {
    alignas(16) std::byte lane[warp_size][Fragment::max_registers * 4];
};

void run_load(Warp& w, const Insn& in, std::uint32_t mask) {
    require_whole_warp(w, in, mask);
    const auto& form = *operand<const TransferForm>(w, in.d);
    LaneBytes fragment;
    for_accesses(w, in, form, [&](const Access& x, unsigned bytes, unsigned at) {
        Staged staged;
        access_staged<Op::Load>(w, in, in.memory_slot, static_cast<Space>(form.space), x, bytes, staged);
        for (unsigned l = 0; l < warp_size; ++l) std::memcpy(fragment.lane[l] + at, staged.lane[l], bytes);
    });
    const unsigned width = form.fragment.register_bytes(), last = form.fragment.registers() - 1;  // 0, 1, 3 or 7
    for (unsigned r = 0; r < form.at.count; ++r)
        for (unsigned l = 0; l < warp_size; ++l)
            std::memcpy(operand<std::byte>(w, form.at.place[r]) + l * width, fragment.lane[l] + (r & last) * width,
                        width);
}

void run_store(Warp& w, const Insn& in, std::uint32_t mask) {
    require_whole_warp(w, in, mask);
    const auto& form = *operand<const TransferForm>(w, in.d);
    LaneBytes fragment;
    const unsigned width = form.fragment.register_bytes();
    for (unsigned r = 0; r < form.at.count; ++r)
        for (unsigned l = 0; l < warp_size; ++l)
            std::memcpy(fragment.lane[l] + r * width, operand<std::byte>(w, form.at.place[r]) + l * width, width);
    for_accesses(w, in, form, [&](const Access& x, unsigned bytes, unsigned at) {
        Staged staged;
        for (unsigned l = 0; l < warp_size; ++l) std::memcpy(staged.lane[l], fragment.lane[l] + at, bytes);
        access_staged<Op::Store>(w, in, in.memory_slot, static_cast<Space>(form.space), x, bytes, staged);
    });
}

const ptx::Operand& address_operand(const InsnBuilder& b, std::size_t index) {
    const ptx::Operand& o = b.operand(index);
    if (o.kind != ptx::Operand::Kind::Address) b.refuse("needs an address in brackets");
    return o;
}

Space named_space(const InsnBuilder& b) {
    if (b.has("global")) return Space::Global;
    return b.has("shared") || b.has("shared::cta") ? Space::Shared : Space::Generic;
}

struct Offered {
    Element element;
    Shape shape;
};
// The shapes of wmma for each element type that is moved. The rows of the opcodes say which types A, B and C may have.
constexpr Offered offered[] = {
    {Element::F16, {16, 16, 16}}, {Element::F16, {32, 8, 16}},   {Element::F16, {8, 32, 16}},
    {Element::F32, {16, 16, 16}}, {Element::F32, {32, 8, 16}},   {Element::F32, {8, 32, 16}},
    {Element::F32, {16, 16, 8}},  {Element::BF16, {16, 16, 16}}, {Element::BF16, {32, 8, 16}},
    {Element::BF16, {8, 32, 16}}, {Element::TF32, {16, 16, 8}},  {Element::F64, {8, 8, 4}},
    {Element::S8, {16, 16, 16}},  {Element::S8, {32, 8, 16}},    {Element::S8, {8, 32, 16}},
    {Element::U8, {16, 16, 16}},  {Element::U8, {32, 8, 16}},    {Element::U8, {8, 32, 16}},
    {Element::S32, {16, 16, 16}}, {Element::S32, {32, 8, 16}},   {Element::S32, {8, 32, 16}},
    {Element::S32, {8, 8, 32}},   {Element::S32, {8, 8, 128}},   {Element::S4, {8, 8, 32}},
    {Element::U4, {8, 8, 32}},    {Element::B1, {8, 8, 128}},
};

template <Op O, Matrix M>
void decode_transfer(InsnBuilder& b) {
    b.expect_operands(2, 3);
    const std::vector<Element> elements = matrix_elements(b);
    if (elements.size() != 1) b.refuse("names one type");
    const Shape shape = matrix_shape(b);
    if (std::none_of(std::begin(offered), std::end(offered),
                     [&](const Offered& o) { return o.element == elements[0] && o.shape == shape; }))
        b.refuse("no such shape for this type");
    if (b.has("row") == b.has("col")) b.refuse("the layout is missing");
    TransferForm form{};
    form.fragment = Fragment::of(M, elements[0], shape);
    form.along_lines = b.has(M == Matrix::B ? "col" : "row");
    if (bits_of(elements[0]) < 8 && !form.along_lines) b.refuse("no such layout for elements of less than a byte");
    const Space space = named_space(b);
    form.space = static_cast<std::uint32_t>(space);
    constexpr std::size_t data = O == Op::Load ? 0 : 1;
    form.at = fragment_registers(b, b.operand(data), form.fragment, true, O == Op::Load);
    b.address(address_operand(b, 1 - data), space, narrow_bit);
    const unsigned dense = form.along_lines ? form.fragment.length : form.fragment.lines;
    b.out.b = b.operand_count() == 3 ? b.source(2, ptx::Type::U32) : b.constant(dense, 4);
    b.out.d = matrix_form(b, form);
    b.out.memory_slot = b.function.statistics(space, O == Op::Load ? AccessClass::Load : AccessClass::Store);
    const Handler h = O == Op::Load ? run_load : run_store;
    b.handlers({h, h});
}

// The form of ldmatrix and stmatrix, in the constant pool: matrices of 8 by 8 halves. Lanes 8i to 8i + 7 hold the
// addresses of the 16-byte rows of the i-th matrix. In a register, lane 4r + c has the elements 2c and 2c + 1 of row r;
// transposed, of column r.
struct RowsForm {
    std::uint32_t space, transposed;
    FragmentRegisters at;
};

constexpr unsigned rows_bytes = 16;

// For a store, f(i) fills the rows of the i-th matrix. The whole instruction is one request.
template <Op O, class F>
void for_matrices(Warp& w, const Insn& in, const RowsForm& form, Staged& rows, F&& f) {
    std::uint64_t addresses[warp_size];
    lane_addresses(w, in, addresses);
    std::uint32_t waves = 0, ideal = 0;
    for (unsigned i = 0; i < form.at.count; ++i) {
        Access x;
        x.collect(addresses, 0, 0xffu << (8 * i), rows_bytes);
        if constexpr (O == Op::Store) f(i);
        const auto shared = [&](const Access& part) {
            resolve_shared<O>(w, in, part, rows_bytes, [&](std::byte* origin, const Access& lanes) {
                move_staged<O>(origin, lanes, rows_bytes, rows);
            });
            waves += part.wavefronts(rows_bytes).total;
            ideal += part.wavefronts(rows_bytes).ideal;
        };
        if (static_cast<Space>(form.space) == Space::Shared)
            shared(x);
        else
            split_generic(x, rows_bytes, [&](Space where, const Access& part) {
                if (where != Space::Shared)
                    raise_at(w, &in, device::error::illegal_address, static_cast<unsigned>(std::countr_zero(part.mask)),
                             "uses an address outside shared memory in an instruction that reaches shared memory only");
                shared(part);
            });
    }
    count(w, in.memory_slot, waves, waves - ideal);
}

// Row and column of an element.
struct Cell {
    unsigned row, column;
};
Cell cell(unsigned lane, unsigned half, bool transposed) {
    const unsigned r = lane / 4, c = 2 * (lane % 4) + half;
    return transposed ? Cell{c, r} : Cell{r, c};
}

void run_load_rows(Warp& w, const Insn& in, std::uint32_t mask) {
    require_whole_warp(w, in, mask);
    const auto& form = *operand<const RowsForm>(w, in.d);
    Staged rows;  // rows of all matrices: each matrix has eight lanes of its own
    for_matrices<Op::Load>(w, in, form, rows, [](unsigned) {});
    for (unsigned i = 0; i < form.at.count; ++i) {
        auto* d = operand<std::uint32_t>(w, form.at.place[i]);
        for (unsigned l = 0; l < warp_size; ++l) {
            std::uint16_t halves[2];
            for (unsigned h = 0; h < 2; ++h) {
                const Cell at = cell(l, h, form.transposed);
                std::memcpy(&halves[h], rows.lane[8 * i + at.row] + 2 * at.column, 2);
            }
            d[l] = halves[0] | static_cast<std::uint32_t>(halves[1]) << 16;
        }
    }
}

void run_store_rows(Warp& w, const Insn& in, std::uint32_t mask) {
    require_whole_warp(w, in, mask);
    const auto& form = *operand<const RowsForm>(w, in.d);
    Staged rows;
    for_matrices<Op::Store>(w, in, form, rows, [&](unsigned i) {
        const auto* s = operand<std::uint32_t>(w, form.at.place[i]);
        for (unsigned l = 0; l < warp_size; ++l)
            for (unsigned h = 0; h < 2; ++h) {
                const Cell at = cell(l, h, form.transposed);
                const auto half = static_cast<std::uint16_t>(s[l] >> (16 * h));
                std::memcpy(rows.lane[8 * i + at.row] + 2 * at.column, &half, 2);
            }
    });
}

template <Op O>
void decode_rows(InsnBuilder& b) {
    b.expect_operands(2, 2);
    const unsigned matrices = b.has("x4") ? 4 : b.has("x2") ? 2 : 1;
    if (unsigned{b.has("x1")} + b.has("x2") + b.has("x4") != 1) b.refuse("the number of matrices is missing");
    RowsForm form{};
    const Space space = named_space(b);
    form.space = static_cast<std::uint32_t>(space);
    form.transposed = b.has("trans");
    constexpr std::size_t data = O == Op::Load ? 0 : 1;
    form.at = word_registers(b, b.operand(data), matrices, O == Op::Load);
    b.address(address_operand(b, 1 - data), space, narrow_bit);
    b.out.d = matrix_form(b, form);
    b.out.memory_slot = b.function.statistics(Space::Shared, O == Op::Load ? AccessClass::Load : AccessClass::Store);
    const Handler h = O == Op::Load ? run_load_rows : run_store_rows;
    b.handlers({h, h});
}

void run_transpose(Warp& w, const Insn& in, std::uint32_t mask) {
    require_whole_warp(w, in, mask);
    std::uint16_t matrix[8][8];
    const auto* a = operand<std::uint32_t>(w, in.a);
    for (unsigned l = 0; l < warp_size; ++l)
        for (unsigned h = 0; h < 2; ++h) {
            const Cell at = cell(l, h, false);
            matrix[at.row][at.column] = static_cast<std::uint16_t>(a[l] >> (16 * h));
        }
    auto* d = operand<std::uint32_t>(w, in.d);
    for (unsigned l = 0; l < warp_size; ++l) {
        const Cell first = cell(l, 0, true), second = cell(l, 1, true);
        d[l] = matrix[first.row][first.column] | static_cast<std::uint32_t>(matrix[second.row][second.column]) << 16;
    }
}

void decode_transpose(InsnBuilder& b) {
    b.expect_operands(2, 2);
    b.out.d = b.destination(0, 4);
    b.out.a = b.source(1, ptx::Type::B32);
    b.handlers({run_transpose, run_transpose});
}

constexpr std::string_view shapes = "row col global shared shared::cta m16n16k16 m32n8k16 m8n32k16",
                           double_shapes = "row col global shared shared::cta m8n8k4",
                           tf32_shapes = "row col global shared shared::cta m16n16k8", operand_types = "f16 bf16 s8 u8";
constexpr std::string_view accumulator_shapes =
    "row col global shared shared::cta m16n16k16 m32n8k16 m8n32k16 m16n16k8 m8n8k4 m8n8k32 m8n8k128";
constexpr std::string_view small_shapes = "row col global shared shared::cta m8n8k32 m8n8k128";
constexpr std::string_view matrices = "x1 x2 x4 trans shared shared::cta";

constexpr OpcodeFacts fragments{.granule = 1};  // of at least one byte
constexpr OpcodeFacts matrix_rows{.granule = rows_bytes};
#define WG_LOAD(operand, types, shapes, matrix, summary) \
    { "wmma", "load " operand, types, shapes, summary, decode_transfer<Op::Load, matrix>, fragments }
#define WG_OPERAND(name, matrix, summary)                                     \
    WG_LOAD(name " sync aligned", operand_types, shapes, matrix, summary),    \
        WG_LOAD(name " sync aligned", "f64", double_shapes, matrix, summary), \
        WG_LOAD(name " sync aligned tf32", "", tf32_shapes, matrix, summary), \
        WG_LOAD(name " sync aligned s4", "", small_shapes, matrix, summary),  \
        WG_LOAD(name " sync aligned u4", "", small_shapes, matrix, summary),  \
        WG_LOAD(name " sync aligned b1", "", small_shapes, matrix, summary)
constexpr OpcodeRow rows[] = {
    WG_OPERAND("a", Matrix::A, "loads A's fragment"),
    WG_OPERAND("b", Matrix::B, "loads B's fragment"),
    {"wmma", "load c sync aligned", "f16 f32 s32 f64", accumulator_shapes, "loads C's fragment",
     decode_transfer<Op::Load, Matrix::C>, fragments},
    {"wmma", "store d sync aligned", "f16 f32 s32 f64", accumulator_shapes, "stores D's fragment",
     decode_transfer<Op::Store, Matrix::C>, fragments},
    {"ldmatrix", "sync aligned m8n8", "b16", matrices, "loads 8 by 8 matrices of halves, a row from each address",
     decode_rows<Op::Load>, matrix_rows},
    {"stmatrix", "sync aligned m8n8", "b16", matrices, "stores 8 by 8 matrices of halves, a row to each address",
     decode_rows<Op::Store>, matrix_rows},
    {"movmatrix", "sync aligned m8n8 trans", "b16", "", "transposes an 8 by 8 matrix of halves", decode_transpose},
};
#undef WG_OPERAND
#undef WG_LOAD

}  // namespace

std::span<const OpcodeRow> matrix_memory_opcodes() { return rows; }

}  // namespace warpgrade::vgpu

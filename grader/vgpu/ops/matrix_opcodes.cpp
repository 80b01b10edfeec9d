// Products of matrices that a warp holds: mma.sync and wmma.mma.
#include <fmt/format.h>

#include <array>
#include <limits>
#include <vector>

#include "vgpu/ops/forms.hpp"
#include "vgpu/ops/half.hpp"
#include "vgpu/ops/matrix.hpp"
#include "vgpu/ops/matrix_math.hpp"
#include "vgpu/ops/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

// The operands of a product, in the constant pool. The destination has the accumulator's layout.
struct ProductForm {
    Fragment a, b, c, d;
    std::uint32_t saturate, exclusive;  // for integers; for single bits: xor instead of and
    FragmentRegisters a_at, b_at, c_at, d_at;
};

constexpr unsigned max_lines = 32, max_columns = 32, max_depth = 256;

// Calls f(place, bits) for every element. No two lanes hold the same one.
template <class F>
void unpack(const Warp& w, const Fragment& fragment, const FragmentRegisters& at, F&& f) {
    const unsigned bits = bits_of(fragment.element), packed = fragment.in_register();
    for (unsigned reg = 0; reg < fragment.registers(); ++reg)
        for (unsigned lane = 0; lane < warp_size; ++lane) {
            if (bits == 64) {
                f(fragment.place(lane, reg), operand<std::uint64_t>(w, at.place[reg])[lane]);
                continue;
            }
            const std::uint64_t word = operand<std::uint32_t>(w, at.place[reg])[lane];
            for (unsigned sub = 0; sub < packed; ++sub)
                f(fragment.place(lane, reg * packed + sub), (word >> (sub * bits)) & ((std::uint64_t{1} << bits) - 1));
        }
}

// Writes the destination; f(place) gives an element's bits.
template <class F>
void pack(const Warp& w, const Fragment& fragment, const FragmentRegisters& at, F&& f) {
    const unsigned bits = bits_of(fragment.element), packed = fragment.in_register();
    for (unsigned reg = 0; reg < fragment.registers(); ++reg)
        for (unsigned lane = 0; lane < warp_size; ++lane) {
            std::uint64_t word = 0;
            for (unsigned sub = 0; sub < packed; ++sub)
                word |= std::uint64_t{f(fragment.place(lane, reg * packed + sub))} << (sub * bits);
            if (bits == 64)
                operand<std::uint64_t>(w, at.place[reg])[lane] = word;
            else
                operand<std::uint32_t>(w, at.place[reg])[lane] = static_cast<std::uint32_t>(word);
        }
}

float float_of(Element e, std::uint64_t bits) {
    switch (e) {
        case Element::F16:
            return F16::to_float(static_cast<std::uint16_t>(bits));
        case Element::BF16:
            return BF16::to_float(static_cast<std::uint16_t>(bits));
        case Element::TF32:  // the low digits are ignored
            return std::bit_cast<float>(static_cast<std::uint32_t>(bits) & ~0x1fffu);
        default:
            return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    }
}

int smallest_exponent(Element e) { return e == Element::F16 ? -14 : -126; }

void run_float(Warp& w, const Insn& in, std::uint32_t mask) {
    require_whole_warp(w, in, mask);
    constexpr unsigned depth = 16;
    const auto& form = *operand<const ProductForm>(w, in.a);
    Term a[max_lines][depth];
    float b[depth][max_columns];
    std::int32_t b_exponents[depth][max_columns];
    double c[max_lines][max_columns];
    std::int32_t c_exponents[max_lines][max_columns];
    bool finite = true;
    const auto number = [&](Element e, std::uint64_t bits) {
        const float v = float_of(e, bits);
        finite &= std::fabs(v) < std::numeric_limits<float>::infinity();
        return term(v, smallest_exponent(e));
    };
    unpack(w, form.a, form.a_at,
           [&](Place p, std::uint64_t bits) { a[p.line][p.along] = number(form.a.element, bits); });
    unpack(w, form.b, form.b_at, [&](Place p, std::uint64_t bits) {
        const Term t = number(form.b.element, bits);
        b[p.along][p.line] = t.value;
        b_exponents[p.along][p.line] = t.exponent;
    });
    unpack(w, form.c, form.c_at, [&](Place p, std::uint64_t bits) {
        const Term t = number(form.c.element, bits);
        c[p.line][p.along] = t.value;
        c_exponents[p.line][p.along] = t.exponent;
    });
    const unsigned m = form.c.lines, n = form.c.length, k = form.a.length;
    for (unsigned i = 0; i < m; ++i) {
        double special[max_columns];  // IEEE 754 decides sums that contain an infinity or a NaN
        for (unsigned j = 0; !finite && j < n; ++j) {
            special[j] = c[i][j];
            for (unsigned l = 0; l < k; ++l) special[j] += static_cast<double>(a[i][l].value) * b[l][j];
        }
        for (unsigned j = 0; j < n; j += tile_columns)
            FusedSum::run(a[i], &b[0][j], &b_exponents[0][j], max_columns, k, &c[i][j], &c_exponents[i][j]);
        for (unsigned j = 0; !finite && j < n; ++j)
            if (!(std::fabs(special[j]) < std::numeric_limits<double>::infinity())) c[i][j] = special[j];
    }
    pack(w, form.d, form.d_at, [&](Place p) -> std::uint32_t {
        const double v = c[p.line][p.along];
        if (form.d.element == Element::F16) return F16::from_float(round_to_odd(v));
        return std::bit_cast<std::uint32_t>(truncate_to_float(v));
    });
}

// f64: a chain of fused multiply-adds in the order of k.
void run_double(Warp& w, const Insn& in, std::uint32_t mask) {
    require_whole_warp(w, in, mask);
    constexpr unsigned depth = 16, lines = 16, columns = 8;
    const auto& form = *operand<const ProductForm>(w, in.a);
    double a[lines][depth], b[columns][depth], c[lines][columns];
    const auto into = [](auto& matrix) {
        return [&matrix](Place p, std::uint64_t bits) { matrix[p.line][p.along] = std::bit_cast<double>(bits); };
    };
    unpack(w, form.a, form.a_at, into(a));
    unpack(w, form.b, form.b_at, into(b));
    unpack(w, form.c, form.c_at, into(c));
    pack(w, form.d, form.d_at, [&](Place p) {
        double sum = c[p.line][p.along];
        for (unsigned l = 0; l < form.a.length; ++l) {
            const double x = a[p.line][l], y = b[p.along][l];
            sum = first_nan_if(std::fma(x, y, sum), x, y, sum);
        }
        return std::bit_cast<std::uint64_t>(sum);
    });
}

int integer_of(Element e, std::uint64_t bits) {
    switch (e) {
        case Element::S8:
            return static_cast<std::int8_t>(bits);
        case Element::S4:
            return static_cast<int>(bits ^ 8) - 8;
        default:
            return static_cast<int>(bits);
    }
}

void run_integer(Warp& w, const Insn& in, std::uint32_t mask) {
    require_whole_warp(w, in, mask);
    const auto& form = *operand<const ProductForm>(w, in.a);
    std::int16_t a[max_lines][max_depth], b[max_columns][max_depth];
    std::uint32_t c[max_lines][max_columns] = {};
    unpack(w, form.a, form.a_at, [&](Place p, std::uint64_t bits) {
        a[p.line][p.along] = static_cast<std::int16_t>(integer_of(form.a.element, bits));
    });
    unpack(w, form.b, form.b_at, [&](Place p, std::uint64_t bits) {
        b[p.line][p.along] = static_cast<std::int16_t>(integer_of(form.b.element, bits));
    });
    unpack(w, form.c, form.c_at,
           [&](Place p, std::uint64_t bits) { c[p.line][p.along] = static_cast<std::uint32_t>(bits); });
    pack(w, form.d, form.d_at, [&](Place p) {
        const std::int16_t *x = a[p.line], *y = b[p.along];
        std::int32_t products = 0;  // 256 products of 16 bits fit
        if (form.exclusive)
            for (unsigned l = 0; l < form.a.length; ++l) products += x[l] ^ y[l];
        else
            for (unsigned l = 0; l < form.a.length; ++l) products += x[l] * y[l];
        const std::int64_t sum = std::int64_t{static_cast<std::int32_t>(c[p.line][p.along])} + products;
        using Limits = std::numeric_limits<std::int32_t>;
        return static_cast<std::uint32_t>(form.saturate ? std::clamp<std::int64_t>(sum, Limits::min(), Limits::max())
                                                        : sum);
    });
}

struct Offered {
    bool wmma;
    Element element;  // of A and B; unsigned types as their signed counterparts
    Shape shape;
};
constexpr Offered offered[] = {
    {false, Element::F16, {16, 8, 8}},   {false, Element::F16, {16, 8, 16}},  {false, Element::BF16, {16, 8, 8}},
    {false, Element::BF16, {16, 8, 16}}, {false, Element::TF32, {16, 8, 4}},  {false, Element::TF32, {16, 8, 8}},
    {false, Element::F64, {8, 8, 4}},    {false, Element::F64, {16, 8, 4}},   {false, Element::F64, {16, 8, 8}},
    {false, Element::F64, {16, 8, 16}},  {false, Element::S8, {8, 8, 16}},    {false, Element::S8, {16, 8, 16}},
    {false, Element::S8, {16, 8, 32}},   {false, Element::S4, {8, 8, 32}},    {false, Element::S4, {16, 8, 32}},
    {false, Element::S4, {16, 8, 64}},   {false, Element::B1, {8, 8, 128}},   {false, Element::B1, {16, 8, 128}},
    {false, Element::B1, {16, 8, 256}},  {true, Element::F16, {16, 16, 16}},  {true, Element::F16, {32, 8, 16}},
    {true, Element::F16, {8, 32, 16}},   {true, Element::BF16, {16, 16, 16}}, {true, Element::BF16, {32, 8, 16}},
    {true, Element::BF16, {8, 32, 16}},  {true, Element::TF32, {16, 16, 8}},  {true, Element::F64, {8, 8, 4}},
    {true, Element::S8, {16, 16, 16}},   {true, Element::S8, {32, 8, 16}},    {true, Element::S8, {8, 32, 16}},
    {true, Element::S4, {8, 8, 32}},     {true, Element::B1, {8, 8, 128}},
};

Element signed_kin(Element e) { return e == Element::U8 ? Element::S8 : e == Element::U4 ? Element::S4 : e; }

bool accumulates(Element operands, Element c) {
    switch (operands) {
        case Element::F16:
            return c == Element::F16 || c == Element::F32;
        case Element::BF16:
        case Element::TF32:
            return c == Element::F32;
        case Element::F64:
            return c == Element::F64;
        default:
            return c == Element::S32;
    }
}

// The types of D, A, B and C. wmma.mma on f16 names only D and C.
std::array<Element, 4> product_elements(InsnBuilder& b, bool wmma) {
    const std::vector<Element> e = matrix_elements(b);
    if (wmma && e.size() == 2) return {e[0], Element::F16, Element::F16, e[1]};
    if (e.size() != 4) b.refuse(fmt::format("names {} types, expected 4", e.size()));
    return {e[0], e[1], e[2], e[3]};
}

// wmma's fragments are the same for both memory layouts; mma.sync has only one.
void check_layouts(InsnBuilder& b, bool wmma) {
    std::vector<std::string_view> layouts;
    for (const auto& m : b.in.modifiers)
        if (m == "row" || m == "col") layouts.push_back(m);
    if (layouts.size() != 2) b.refuse("the layouts of A and B are missing");
    if (!wmma && (layouts[0] != "row" || layouts[1] != "col")) b.refuse("only A by rows and B by columns is supported");
}

template <bool wmma>
void decode_product(InsnBuilder& b) {
    b.expect_operands(4, 4);
    const auto [d, a, other, c] = product_elements(b, wmma);
    const Shape shape = matrix_shape(b);
    const Element kin = signed_kin(a);
    if (signed_kin(other) != kin || !accumulates(kin, c) || !accumulates(kin, d)) b.refuse("types do not go together");
    if (std::none_of(std::begin(offered), std::end(offered),
                     [&](const Offered& o) { return o.wmma == wmma && o.element == kin && o.shape == shape; }))
        b.refuse("no such shape for these types");
    const bool integers = d == Element::S32, bits = kin == Element::B1;
    if (b.has("satfinite") && (!integers || bits)) b.refuse("only integers saturate");
    if (b.has("rn") && d != Element::F64) b.refuse("only f64 names its rounding");
    if (bits != b.has("popc") || bits != (b.has("xor") || b.has("and")))
        b.refuse("single bits, and they alone, are combined by xor or and, and counted by popc");
    check_layouts(b, wmma);
    ProductForm form{};
    form.a = Fragment::of(Matrix::A, a, shape);
    form.b = Fragment::of(Matrix::B, other, shape);
    form.c = Fragment::of(Matrix::C, c, shape);
    form.d = Fragment::of(Matrix::C, d, shape);
    form.saturate = b.has("satfinite");
    form.exclusive = b.has("xor");
    form.d_at = fragment_registers(b, b.operand(0), form.d, wmma, true);
    form.a_at = fragment_registers(b, b.operand(1), form.a, wmma, false);
    form.b_at = fragment_registers(b, b.operand(2), form.b, wmma, false);
    form.c_at = fragment_registers(b, b.operand(3), form.c, wmma, false);
    b.out.a = matrix_form(b, form);
    const Handler h = integers ? run_integer : d == Element::F64 ? run_double : run_float;
    b.handlers({h, h});
}

constexpr OpcodeRow rows[] = {
    {"mma", "sync aligned", "f16 f32 f64 s32",
     "row col m16n8k8 m16n8k16 m16n8k4 m8n8k4 m8n8k16 m16n8k32 m8n8k32 m16n8k64 m8n8k128 m16n8k128 m16n8k256 tf32 s4 "
     "u4 "
     "b1 satfinite xor and popc rn",
     "d = a * b + c of a warp's matrices", decode_product<false>},
    {"wmma", "mma sync aligned", "f16 f32 f64 s32",
     "row col m16n16k16 m32n8k16 m8n32k16 m16n16k8 m8n8k4 m8n8k32 m8n8k128 tf32 s4 u4 b1 satfinite xor and popc rn",
     "d = a * b + c of a warp's matrices", decode_product<true>},
};

}  // namespace

std::span<const OpcodeRow> matrix_opcodes() { return rows; }

}  // namespace warpgrade::vgpu

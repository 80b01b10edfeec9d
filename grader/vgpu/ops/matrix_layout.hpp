// How a warp holds the matrices of D = A·B + C: in the fragments of mma.sync that the PTX manual shows. wmma's layout
// is open; here its matrices are tiles of mma.sync's, 16 rows (or 8, if there are no more) of A by 8 columns of B, one
// after the other in the registers. GPUs since Turing do the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace warpgrade::vgpu {

enum class Element : std::uint32_t { F16, BF16, TF32, F32, F64, S8, U8, S4, U4, B1, S32 };

constexpr std::optional<Element> parse_element(std::string_view modifier) {
    constexpr struct {
        std::string_view name;
        Element element;
    } named[] = {{"f16", Element::F16}, {"bf16", Element::BF16}, {"tf32", Element::TF32}, {"f32", Element::F32},
                 {"f64", Element::F64}, {"s8", Element::S8},     {"u8", Element::U8},     {"s4", Element::S4},
                 {"u4", Element::U4},   {"b1", Element::B1},     {"s32", Element::S32}};
    for (const auto& n : named)
        if (n.name == modifier) return n.element;
    return std::nullopt;
}

constexpr unsigned bits_of(Element e) {
    switch (e) {
        case Element::F64:
            return 64;
        case Element::F16:
        case Element::BF16:
            return 16;
        case Element::S8:
        case Element::U8:
            return 8;
        case Element::S4:
        case Element::U4:
            return 4;
        case Element::B1:
            return 1;
        default:
            return 32;
    }
}

struct Shape {
    std::uint32_t m, n, k;
    bool operator==(const Shape&) const = default;
};

// "m16n8k16"
constexpr std::optional<Shape> parse_shape(std::string_view modifier) {
    Shape shape{};
    const auto number = [&](char letter, std::uint32_t& value) {
        if (modifier.empty() || modifier.front() != letter) return false;
        modifier.remove_prefix(1);
        unsigned digits = 0;
        for (; !modifier.empty() && modifier.front() >= '0' && modifier.front() <= '9' && digits < 4; ++digits) {
            value = 10 * value + static_cast<std::uint32_t>(modifier.front() - '0');
            modifier.remove_prefix(1);
        }
        return digits > 0;
    };
    if (!number('m', shape.m) || !number('n', shape.n) || !number('k', shape.k) || !modifier.empty())
        return std::nullopt;
    return shape;
}

enum class Matrix : std::uint32_t { A, B, C };  // D has C's layout

// The position of an element. Lines are rows of A, columns of B and rows of C; the elements of a register are along a
// line.
struct Place {
    unsigned line, along;
};

struct Fragment {
    static constexpr unsigned max_registers = 8;
    static constexpr unsigned quad = 4;  // lanes that share a line

    Matrix matrix;
    Element element;
    std::uint32_t lines, length;

    static constexpr Fragment of(Matrix matrix, Element element, const Shape& s) {
        switch (matrix) {
            case Matrix::A:
                return {matrix, element, s.m, s.k};
            case Matrix::B:
                return {matrix, element, s.n, s.k};
            default:
                return {matrix, element, s.m, s.n};
        }
    }

    [[nodiscard]] constexpr unsigned register_bytes() const { return element == Element::F64 ? 8 : 4; }
    [[nodiscard]] constexpr unsigned in_register() const { return std::max(32 / bits_of(element), 1u); }  // elements
    [[nodiscard]] constexpr unsigned elements() const { return lines * length / 32; }                     // per lane
    [[nodiscard]] constexpr unsigned registers() const { return elements() / in_register(); }

    // The position of a lane's `index`-th element, counted over all its registers.
    [[nodiscard]] constexpr Place place(unsigned lane, unsigned index) const {
        const unsigned group = lane / quad, member = lane % quad;
        if (matrix == Matrix::C) {  // two neighbours in each half of a tile's rows
            const unsigned tile_lines = std::min(lines, 16u), in_tile = tile_lines / 4, across = length / 8;
            const unsigned tile = index / in_tile, i = index % in_tile;
            return {tile / across * tile_lines + group + i / 2 * 8, tile % across * 8 + 2 * member + i % 2};
        }
        // A register holds neighbours; a quad's four registers hold a stretch of the line. A tile of A has two halves,
        // and its registers alternate between them.
        const unsigned packed = in_register(), reg = index / packed, sub = index % packed, stretch = quad * packed;
        const unsigned halves = matrix == Matrix::A && lines >= 16 ? 2 : 1, in_tile = length / stretch * halves;
        const unsigned tile = reg / in_tile, r = reg % in_tile;
        return {(tile * halves + r % halves) * 8 + group, r / halves * stretch + packed * member + sub};
    }
};

}  // namespace warpgrade::vgpu

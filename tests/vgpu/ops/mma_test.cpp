// mma.sync with the fragments shown in the PTX manual, written out here independently, and its arithmetic.
#include <array>
#include <cmath>
#include <functional>
#include <random>

#include "support/contains.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/ops/half.hpp"

using namespace warpgrade;
using vgpu::BF16;
using vgpu::F16;
using vgpu::test::Machine;
using vgpu::test::message_of;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {

// A kernel that loads each lane's registers of A, B and C, executes the instruction and stores those of D. Word is
// u32, or u64 for f64. `prologue` stands before the instruction.
template <class Word>
std::string kernel(const std::string& instruction, std::array<unsigned, 4> counts, const std::string& prologue = "") {
    const std::string width = sizeof(Word) == 8 ? "b64" : "b32";
    std::string text =
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 k_param_0, .param .u64 "
        "k_param_1, .param .u64 k_param_2, .param .u64 k_param_3)\n{\n.reg .b64 %p, %q;\n.reg .b32 %lane;\n.reg .pred "
        "%t;\nmov.u32 %lane, %laneid;\n";
    std::array<std::string, 4> lists;
    std::string stores;
    for (unsigned operand = 0; operand < 4; ++operand) {
        const std::string name = std::string("%") + "abcd"[operand], size = std::to_string(sizeof(Word));
        const std::string at = "ld.param.u64 %p, [k_param_" + std::to_string(operand) + "];\nmad.wide.u32 %q, %lane, " +
                               std::to_string(sizeof(Word) * counts[operand]) + ", %p;\n";
        text += ".reg ." + width + " " + name + "<" + std::to_string(counts[operand]) + ">;\n";
        (operand == 3 ? stores : text) += at;
        for (unsigned r = 0; r < counts[operand]; ++r) {
            const std::string reg = name + std::to_string(r), place = "[%q+" + std::to_string(r * sizeof(Word)) + "]";
            if (operand == 3)
                stores += "st.global." + width + " " + place + ", " + reg + ";\n";
            else
                text += "ld.global." + width + " " + reg + ", " + place + ";\n";
            lists[operand] += (r ? ", " : "") + reg;
        }
    }
    return text + prologue + instruction + " {" + lists[3] + "}, {" + lists[0] + "}, {" + lists[1] + "}, {" + lists[2] +
           "};\n" + stores + "ret;\n}\n";
}

template <class Word>
std::vector<Word> execute(const std::string& instruction, const std::vector<Word>& a, const std::vector<Word>& b,
                          const std::vector<Word>& c, std::size_t d_words) {
    const auto count = [](std::size_t words) { return static_cast<unsigned>(words / 32); };
    Machine m(1, kernel<Word>(instruction, {count(a.size()), count(b.size()), count(c.size()), count(d_words)}));
    const auto at = m.upload(a), bt = m.upload(b), ct = m.upload(c), dt = m.upload(std::vector<Word>(d_words));
    m.launch("k", {1}, {32}, at, bt, ct, dt);
    return m.download(dt);
}

struct Place {
    int line, column;
};
// The place of a lane's i-th element: g is lane / 4, t is lane % 4.
using Layout = std::function<Place(int g, int t, int i)>;

struct Type {
    unsigned bits;
    std::function<u64(int)> encode;
    std::function<int(u64)> decode;
    int smallest = -4, largest = 4;
};
const Type f16{16, [](int v) { return u64{F16::from_float(static_cast<float>(v))}; },
               [](u64 b) { return static_cast<int>(F16::to_float(static_cast<std::uint16_t>(b))); }},
    bf16{16, [](int v) { return u64{BF16::from_float(static_cast<float>(v))}; }, nullptr},
    f32{32, [](int v) { return u64{std::bit_cast<u32>(static_cast<float>(v))}; },
        [](u64 b) { return static_cast<int>(std::bit_cast<float>(static_cast<u32>(b))); }},
    f64{64, [](int v) { return std::bit_cast<u64>(static_cast<double>(v)); },
        [](u64 b) { return static_cast<int>(std::bit_cast<double>(b)); }},
    s32{32, [](int v) { return u64{static_cast<u32>(v)}; },
        [](u64 b) { return static_cast<int>(static_cast<u32>(b)); }},
    s8{8, [](int v) { return u64{static_cast<std::uint8_t>(v)}; }, nullptr, -128, 127},
    u8{8, [](int v) { return u64{static_cast<std::uint8_t>(v)}; }, nullptr, 0, 255},
    s4{4, [](int v) { return u64{static_cast<u32>(v) & 15}; }, nullptr, -8, 7},
    u4{4, [](int v) { return u64{static_cast<u32>(v) & 15}; }, nullptr, 0, 15},
    b1{1, [](int v) { return static_cast<u64>(v); }, nullptr, 0, 1};

struct Matrix {
    int lines, columns;
    std::vector<int> values;
    Matrix(int l, int c, const Type& t, unsigned seed) : lines(l), columns(c) {
        std::mt19937 random(seed);
        for (int i = 0; i < l * c; ++i)
            values.push_back(t.smallest +
                             static_cast<int>(random() % static_cast<unsigned>(t.largest - t.smallest + 1)));
    }
    [[nodiscard]] int& at(int i, int j) { return values[static_cast<std::size_t>(i * columns + j)]; }
};

template <class Word>
std::vector<Word> distribute(Matrix& m, const Type& t, const Layout& layout) {
    const unsigned in_word = sizeof(Word) * 8 / t.bits, elements = static_cast<unsigned>(m.lines * m.columns) / 32;
    std::vector<Word> words(32 * elements / in_word);
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < elements; ++i) {
            const Place p = layout(static_cast<int>(lane / 4), static_cast<int>(lane % 4), static_cast<int>(i));
            words[(lane * elements + i) / in_word] |=
                static_cast<Word>(t.encode(m.at(p.line, p.column)) << (i % in_word * t.bits));
        }
    return words;
}

// `combine` gives the product of two elements.
template <class Word = u32>
void check(const std::string& instruction, int m, int n, int k, const Type& a_type, const Type& b_type,
           const Type& c_type, const Layout& a_layout, const Layout& b_layout, const Layout& c_layout,
           const std::function<int(int, int)>& combine = std::multiplies<>()) {
    CAPTURE(instruction);
    Matrix a(m, k, a_type, 1), b(k, n, b_type, 2), c(m, n, c_type, 3);
    const auto c_words = distribute<Word>(c, c_type, c_layout);
    const auto d = execute<Word>(instruction, distribute<Word>(a, a_type, a_layout),
                                 distribute<Word>(b, b_type, b_layout), c_words, c_words.size());
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
            for (int l = 0; l < k; ++l) c.at(i, j) += combine(a.at(i, l), b.at(l, j));
    Matrix got(m, n, c_type, 4);
    const unsigned in_word = sizeof(Word) * 8 / c_type.bits, elements = static_cast<unsigned>(m * n) / 32;
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < elements; ++i) {
            const Place p = c_layout(static_cast<int>(lane / 4), static_cast<int>(lane % 4), static_cast<int>(i));
            const u64 word = d[(lane * elements + i) / in_word] >> (i % in_word * c_type.bits);
            got.at(p.line, p.column) = c_type.decode(c_type.bits == 64 ? word : word & ((u64{1} << c_type.bits) - 1));
        }
    CHECK(got.values == c.values);
}

const Layout sixteen_lines = [](int g, int t, int i) { return Place{i < 2 ? g : g + 8, 2 * t + (i & 1)}; };
const Layout eight_lines = [](int g, int t, int i) { return Place{g, 2 * t + (i & 1)}; };

}  // namespace

TEST_CASE("mma on halves has the manual's fragments") {
    const Layout a8 = [](int g, int t, int i) { return Place{i < 2 ? g : g + 8, 2 * t + (i & 1)}; };
    const Layout b8 = [](int g, int t, int i) { return Place{2 * t + i, g}; };
    const Layout a16 = [](int g, int t, int i) {
        return Place{i < 2 || (i >= 4 && i < 6) ? g : g + 8, i < 4 ? 2 * t + (i & 1) : 2 * t + (i & 1) + 8};
    };
    const Layout b16 = [](int g, int t, int i) { return Place{i < 2 ? 2 * t + (i & 1) : 2 * t + (i & 1) + 8, g}; };
    const std::string m8 = "mma.sync.aligned.m16n8k8.row.col.", m16 = "mma.sync.aligned.m16n8k16.row.col.";
    check(m8 + "f32.f16.f16.f32", 16, 8, 8, f16, f16, f32, a8, b8, sixteen_lines);
    check(m8 + "f16.f16.f16.f16", 16, 8, 8, f16, f16, f16, a8, b8, sixteen_lines);
    check(m8 + "f32.bf16.bf16.f32", 16, 8, 8, bf16, bf16, f32, a8, b8, sixteen_lines);
    check(m16 + "f32.f16.f16.f32", 16, 8, 16, f16, f16, f32, a16, b16, sixteen_lines);
    check(m16 + "f16.f16.f16.f16", 16, 8, 16, f16, f16, f16, a16, b16, sixteen_lines);
    check(m16 + "f32.bf16.bf16.f32", 16, 8, 16, bf16, bf16, f32, a16, b16, sixteen_lines);
}

TEST_CASE("mma on tf32 and f64 has the manual's fragments") {
    const Layout a4 = [](int g, int t, int i) { return Place{i == 0 ? g : g + 8, t}; };
    const Layout b4 = [](int g, int t, int) { return Place{t, g}; };
    const Layout a8 = [](int g, int t, int i) { return Place{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4}; };
    const Layout b8 = [](int g, int t, int i) { return Place{i == 0 ? t : t + 4, g}; };
    const Layout a16 = [](int g, int t, int i) { return Place{i % 2 == 0 ? g : g + 8, i / 2 * 4 + t}; };
    const Layout b16 = [](int g, int t, int i) { return Place{4 * i + t, g}; };
    const Layout a_eight = [](int g, int t, int) { return Place{g, t}; };
    const std::string mma = "mma.sync.aligned.", doubles = ".row.col.f64.f64.f64.f64";
    check(mma + "m16n8k4.row.col.f32.tf32.tf32.f32", 16, 8, 4, f32, f32, f32, a4, b4, sixteen_lines);
    check(mma + "m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, f32, f32, f32, a8, b8, sixteen_lines);
    check<u64>(mma + "m8n8k4" + doubles, 8, 8, 4, f64, f64, f64, a_eight, b4, eight_lines);
    check<u64>(mma + "m8n8k4" + doubles + ".rn", 8, 8, 4, f64, f64, f64, a_eight, b4, eight_lines);
    check<u64>(mma + "m16n8k4" + doubles, 16, 8, 4, f64, f64, f64, a4, b4, sixteen_lines);
    check<u64>(mma + "m16n8k8" + doubles, 16, 8, 8, f64, f64, f64, a8, b8, sixteen_lines);
    check<u64>(mma + "m16n8k16" + doubles, 16, 8, 16, f64, f64, f64, a16, b16, sixteen_lines);
}

TEST_CASE("mma on integers has the manual's fragments") {
    // `width`: elements of a register.
    const auto one_half = [](int width) -> Layout {
        return [=](int g, int t, int i) { return Place{i < width ? g : g + 8, width * t + i % width}; };
    };
    const auto two_halves = [](int width) -> Layout {
        return [=](int g, int t, int i) {
            return Place{i < width || (i >= 2 * width && i < 3 * width) ? g : g + 8,
                         width * t + i % width + (i < 2 * width ? 0 : 4 * width)};
        };
    };
    const auto columns = [](int width) -> Layout {
        return [=](int g, int t, int i) { return Place{width * t + i % width + (i < width ? 0 : 4 * width), g}; };
    };
    const std::string mma = "mma.sync.aligned.";
    const auto all = [&](int width, const std::string& types, const Type& a, const Type& b, const std::string& before,
                         const std::string& after, const std::function<int(int, int)>& combine) {
        const auto shape = [&](int m, int k) {
            return mma + "m" + std::to_string(m) + "n8k" + std::to_string(k) + ".row.col" + before + types + after;
        };
        const int k = 4 * width;
        check(shape(8, k), 8, 8, k, a, b, s32, one_half(width), columns(width), eight_lines, combine);
        check(shape(16, k), 16, 8, k, a, b, s32, one_half(width), columns(width), sixteen_lines, combine);
        check(shape(16, 2 * k), 16, 8, 2 * k, a, b, s32, two_halves(width), columns(width), sixteen_lines, combine);
    };
    const auto product = std::multiplies<>();
    all(4, ".s32.s8.s8.s32", s8, s8, "", "", product);
    all(4, ".s32.u8.s8.s32", u8, s8, ".satfinite", "", product);
    all(4, ".s32.s8.u8.s32", s8, u8, "", "", product);
    all(8, ".s32.s4.u4.s32", s4, u4, "", "", product);
    all(8, ".s32.u4.s4.s32", u4, s4, ".satfinite", "", product);
    all(32, ".s32.b1.b1.s32", b1, b1, "", ".xor.popc", [](int x, int y) { return x ^ y; });
    all(32, ".s32.b1.b1.s32", b1, b1, "", ".and.popc", [](int x, int y) { return x & y; });
}

TEST_CASE("integer sums wrap or stop at the ends") {
    const std::vector<u32> a(64, 0x7f7f7f7f), b(32, 0x7f7f7f7f), c(128, 0x7ffffff0);
    const std::string mma = "mma.sync.aligned.m16n8k16.row.col";
    CHECK(execute<u32>(mma + ".s32.s8.s8.s32", a, b, c, 128) == std::vector<u32>(128, 0x7ffffff0u + 16 * 127 * 127));
    CHECK(execute<u32>(mma + ".satfinite.s32.s8.s8.s32", a, b, c, 128) == std::vector<u32>(128, 0x7fffffffu));
    const std::vector<u32> low(64, 0x80808080), smallest(128, 0x80000001);
    CHECK(execute<u32>(mma + ".satfinite.s32.s8.s8.s32", low, b, smallest, 128) == std::vector<u32>(128, 0x80000000u));
}

namespace {

// D's first element if A and B have these values along k in every line and column, and C is c everywhere.
u32 sum_of(const std::string& types, const Type& t, std::vector<u64> a, std::vector<u64> b, u64 c, bool half_result) {
    const std::size_t k = t.bits == 16 ? 16 : 8;
    a.resize(k);
    b.resize(k);
    const unsigned in_word = 32 / t.bits;
    std::vector<u32> a_words, b_words;
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned half = 0; half < 2; ++half) {
            u32 word = 0;  // of k = half * 4 * in_word + lane % 4 * in_word and on
            u32 other = 0;
            for (unsigned i = 0; i < in_word; ++i) {
                const std::size_t l = half * 4 * in_word + lane % 4 * in_word + i;
                word |= static_cast<u32>(a[l] << (i * t.bits));
                other |= static_cast<u32>(b[l] << (i * t.bits));
            }
            a_words.insert(a_words.end(), 2, word);
            b_words.push_back(other);
        }
    const u32 filler = half_result ? static_cast<u32>(c | c << 16) : static_cast<u32>(c);
    const std::string shape = t.bits == 16 ? "m16n8k16" : "m16n8k8";
    const auto d = execute<u32>("mma.sync.aligned." + shape + ".row.col." + types, a_words, b_words,
                                std::vector<u32>(half_result ? 64 : 128, filler), half_result ? 64 : 128);
    for (const u32 word : d) CHECK(word == d[0]);
    return half_result ? d[0] & 0xffff : d[0];
}

u64 h(float v) { return F16::from_float(v); }
u64 s(float v) { return std::bit_cast<u32>(v); }
float half_sum(const std::vector<u64>& a, const std::vector<u64>& b, float c) {
    return std::bit_cast<float>(sum_of("f32.f16.f16.f32", f16, a, b, s(c), false));
}

}  // namespace

TEST_CASE("mma cuts terms 25 places below the largest, and the sum to f32") {
    const u64 one = h(1), tiny = h(0x1p-12f), tinier = h(0x1p-13f);
    CHECK(half_sum({one, tiny}, {one, tiny}, 0x1p-24f) == 1 + 0x1p-23f);  // the small terms first, as if added at once
    CHECK(half_sum({tinier, tinier, tinier, tinier}, {tiny, tiny, tiny, tiny}, 1) == 1 + 0x1p-23f);
    CHECK(half_sum({tinier, tinier, tinier, tinier}, {tinier, tinier, tinier, tinier}, 1) == 1);
    CHECK(half_sum({tiny}, {h(-0x1p-13f)}, 1) == 1 - 0x1p-24f);  // 2^-25 counts, and the rest is cut
    CHECK(half_sum({tinier}, {h(-0x1p-13f)}, 1) == 1);           // 2^-26 does not
    CHECK(half_sum({one}, {one}, -0x1p-24f) == 1 - 0x1p-24f);    // exact
    CHECK(half_sum({one, one}, {h(1.5f), h(-1.5f)}, 0) == 0);
    CHECK(half_sum({h(0x1p-24f)}, {h(0x1p-24f)}, 0) == 0x1p-48f);  // subnormal operands, an exact product
    // A product's exponent is the sum of its operands', so 1.5 * 1.5 has 0 and not 1: 25 places below that.
    CHECK(half_sum({h(1.5f), h(-1.5f), tiny}, {h(1.5f), h(1.5f), tinier}, 0) == 0x1p-25f);
    CHECK(half_sum({h(3), h(-3), tiny}, {h(1.5f), h(1.5f), tinier}, 0) == 0);
}

TEST_CASE("mma knows overflow, infinities and NaN") {
    const float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
    CHECK(half_sum({h(infinity)}, {h(-1)}, 5) == -infinity);
    CHECK(sum_of("f32.f16.f16.f32", f16, {h(infinity)}, {h(0)}, s(1), false) == 0x7fffffffu);
    CHECK(sum_of("f32.f16.f16.f32", f16, {h(infinity), h(infinity)}, {h(1), h(-1)}, s(1), false) == 0x7fffffffu);
    CHECK(half_sum({h(65504)}, {h(65504)}, largest) == largest);  // below the last place
    const auto bf = [](float v) { return u64{BF16::from_float(v)}; };
    CHECK(sum_of("f32.bf16.bf16.f32", bf16, {bf(0x1p100f)}, {bf(0x1p100f)}, s(0), false) == 0x7f800000u);
    CHECK(sum_of("f32.bf16.bf16.f32", bf16, {bf(0x1p-100f)}, {bf(0x1p-45f)}, s(0), false) == s(0x1p-145f));
    // Results of 16 bits are rounded to nearest even.
    CHECK(sum_of("f16.f16.f16.f16", f16, {h(1)}, {h(0x1p-11f)}, h(1), true) == 0x3c00);
    CHECK(sum_of("f16.f16.f16.f16", f16, {h(1), h(0x1p-10f)}, {h(0x1p-11f), h(0x1p-10f)}, h(1), true) == 0x3c01);
    CHECK(sum_of("f16.f16.f16.f16", f16, {h(65504)}, {h(2)}, h(0), true) == 0x7c00);
    // tf32 has ten places; what f32 has beyond them is ignored.
    const u64 low = 0x3f801fff;
    CHECK(sum_of("f32.tf32.tf32.f32", f32, {low}, {low}, s(0), false) == s(1));
}

TEST_CASE("mma on doubles is a chain of fused multiply-adds") {
    const double x = 1 + 0x1p-30;
    const auto bits = [](double v) { return std::bit_cast<u64>(v); };
    std::vector<u64> a(32), b(32), c(64, bits(-1));
    std::array<double, 4> factors{x, 0x1p53, 1, -0x1p53};
    for (std::size_t lane = 0; lane < 32; ++lane) {
        a[lane] = bits(factors[lane % 4]);
        b[lane] = bits(lane % 4 == 0 ? x : 1);
    }
    double sum = -1;
    for (std::size_t l = 0; l < 4; ++l) sum = std::fma(factors[l], l == 0 ? x : 1.0, sum);
    CHECK(execute<u64>("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", a, b, c, 64) ==
          std::vector<u64>(64, bits(sum)));
}

TEST_CASE("mma refuses what it does not know, and divergent execution") {
    const auto refusal = [](const std::string& instruction, std::array<unsigned, 4> counts,
                            const std::string& prologue = "") {
        return message_of(
            [&] {
                Machine m(1, kernel<u32>(instruction, counts, prologue));
                const auto x = m.upload(std::vector<u32>(1024));
                m.launch("k", {1}, {32}, x, x, x, x);
            },
            prologue.empty() ? device::error::invalid_ptx : device::error::illegal_instruction);
    };
    const std::string known = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    CHECK(message_of([&] { refusal(known, {4, 2, 4, 4}); }, 0) == "the launch did not fail");
    CHECK_THAT(refusal(known, {3, 2, 4, 4}), Contains("an operand has 3 registers, expected 4"));
    CHECK_THAT(refusal(known, {4, 9, 4, 4}), Contains("an operand has 9 registers, expected 2"));
    CHECK_THAT(refusal(known, {4, 2, 4, 200}), Contains("an operand has 200 registers, expected 4"));
    CHECK_THAT(refusal("mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32", {4, 2, 4, 4}), Contains("by rows"));
    CHECK_THAT(refusal("mma.sync.aligned.m16n8k16.row.f32.f16.f16.f32", {4, 2, 4, 4}), Contains("layouts"));
    CHECK_THAT(refusal("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", {4, 2, 4, 4}), Contains("go together"));
    CHECK_THAT(refusal("mma.sync.aligned.m16n8k16.row.col.f32.f16.f32", {4, 2, 4, 4}), Contains("names 3 types"));
    CHECK_THAT(refusal("mma.sync.aligned.m16n8k8.row.col.f32.f32.f32.f32", {4, 2, 4, 4}), Contains("go together"));
    CHECK_THAT(refusal("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", {2, 2, 8, 8}), Contains("no such shape"));
    CHECK_THAT(refusal("mma.sync.aligned.m16n8k4.row.col.s32.s8.s8.s32", {2, 1, 4, 4}), Contains("no such shape"));
    CHECK_THAT(refusal("mma.sync.aligned.row.col.f32.f16.f16.f32", {4, 2, 4, 4}), Contains("names no shape"));
    CHECK_THAT(refusal("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32", {1, 1, 2, 2}), Contains("popc"));
    CHECK_THAT(refusal("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {4, 2, 4, 4}), Contains("sparse"));
    CHECK_THAT(refusal(known, {4, 2, 4, 4}, "setp.gt.u32 %t, %lane, 4;\n@%t exit;\n"), Contains("mask 0x0000001f"));
    CHECK_THAT(refusal(known, {4, 2, 4, 4}, "setp.gt.u32 %t, %lane, 4;\n@%t "), Contains("mask 0xffffffe0"));
}

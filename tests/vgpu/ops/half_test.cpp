// Half types: conversions of all bit patterns against the definition; arithmetic where one rounding differs from two.
#include <cmath>
#include <limits>

#include "support/contains.hpp"
#include "vgpu/instruction.hpp"
#include "vgpu/ops/half.hpp"

using namespace warpgrade;
using vgpu::BF16;
using vgpu::F16;
using vgpu::Rounding;
using vgpu::test::apply;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;

namespace {

// The value of a half by definition.
template <unsigned Exponent, unsigned Mantissa>
double value(u32 h) {
    const int e = static_cast<int>((h >> Mantissa) & ((1u << Exponent) - 1)), bias = (1 << (Exponent - 1)) - 1;
    const double m = h & ((1u << Mantissa) - 1), one = 1u << Mantissa;
    const double magnitude = e == 0 ? std::ldexp(m / one, 1 - bias) : std::ldexp(1 + m / one, e - bias);
    return h >> (Exponent + Mantissa) ? -magnitude : magnitude;
}

template <class Format>
u16 rounded(double v) {
    return Format::from_float(vgpu::round_to_odd(v));
}

// Every number, the midpoint to its upper neighbour, and the floats beside that midpoint, in all rounding modes.
template <class Format, unsigned Exponent, unsigned Mantissa>
void check_rounding() {
    int wrong = 0;
    for (u32 h = 0; h + 1 < Format::infinity; ++h) {
        const double low = value<Exponent, Mantissa>(h), high = value<Exponent, Mantissa>(h + 1);
        const double middle = (low + high) / 2, above = std::nextafter(middle, high),
                     below = std::nextafter(middle, low);
        wrong += static_cast<double>(Format::to_float(static_cast<u16>(h))) != low;
        wrong += rounded<Format>(low) != h || rounded<Format>(above) != h + 1 || rounded<Format>(below) != h;
        wrong += rounded<Format>(middle) != (h & 1 ? h + 1 : h);
        wrong += rounded<Format>(-above) != (Format::sign | (h + 1));
        for (const double v : {low, below, middle, above}) {
            const float odd = vgpu::round_to_odd(v);
            const u32 up = v == low ? h : h + 1;
            wrong += Format::round(odd, Rounding::Zero) != h || Format::round(odd, Rounding::Down) != h;
            wrong += Format::round(odd, Rounding::Up) != up;
            wrong += Format::round(odd, Rounding::Nearest) != rounded<Format>(v);
            wrong += Format::round(-odd, Rounding::Down) != (Format::sign | up);
        }
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("half and bfloat16 round once, over all their numbers") {
    check_rounding<F16, 5, 10>();
    check_rounding<BF16, 8, 7>();
    CHECK(F16::from_float(65519.0f) == 0x7bff);
    CHECK(F16::from_float(65520.0f) == 0x7c00);
    CHECK(F16::round(1e30f, Rounding::Zero) == 0x7bff);
    CHECK(F16::round(-1e30f, Rounding::Up) == 0xfbff);
    CHECK(F16::from_float(std::numeric_limits<float>::quiet_NaN()) == 0x7fff);
    CHECK(BF16::round(std::numeric_limits<float>::max(), Rounding::Up) == 0x7f80);
}

TEST_CASE("half arithmetic rounds once") {
    // 1 + 2^-11 is halfway, and the addend's last bit decides; in float the sum would be cut first.
    CHECK(apply<u16, u16>("fma.rn.f16 %d, %a, %b, %c;", {0x3c01, 0x3c01}, {0x3c01, 0x3c00}, {0x0001, 0x1001}) ==
          std::vector<u16>{0x3c02, 0x3c02});
    CHECK(apply<u16, u16>("add.f16 %d, %a, %b;", {0x7bff, 0x3c00, 0x8000, 0x7c00}, {0x7bff, 0x1000, 0x8000, 0xfc00}) ==
          std::vector<u16>{0x7c00, 0x3c00, 0x8000, 0x7fff});
    CHECK(apply<u16, u16>("mul.rn.bf16 %d, %a, %b;", {0x0080, 0x3f80}, {0x3f00, 0xff80}) ==
          std::vector<u16>{0x0040, 0xff80});
    CHECK(apply<u32, u32>("mul.f16x2 %d, %a, %b;", {0x40003c00}, {0x42003800}) == std::vector<u32>{0x46003800});
    CHECK(apply<u16, u16>("add.ftz.f16 %d, %a, %b;", {0x0001, 0x83ff}, {0x0400, 0x8000}) ==
          std::vector<u16>{0x0400, 0x8000});
    CHECK(apply<u16, u16>("add.sat.f16 %d, %a, %b;", {0x3c00, 0xbc00, 0x7e00}, {0x3c00, 0, 0}) ==
          std::vector<u16>{0x3c00, 0, 0});
    CHECK(apply<u16, u16>("fma.rn.relu.f16 %d, %a, %b, %c;", {0xbc00, 0x3c00}, {0x3c00, 0x3c00}, {0, 0}) ==
          std::vector<u16>{0, 0x3c00});
}

TEST_CASE("half minimum, maximum and comparison know NaN and the sign of zero") {
    CHECK(apply<u16, u16>("min.f16 %d, %a, %b;", {0x7e01, 0x0000, 0x3c00}, {0x3c00, 0x8000, 0xbc00}) ==
          std::vector<u16>{0x3c00, 0x8000, 0xbc00});
    CHECK(apply<u16, u16>("max.NaN.bf16 %d, %a, %b;", {0x7fc1, 0x8000}, {0x3f80, 0x0000}) ==
          std::vector<u16>{0x7fff, 0x0000});
    CHECK(apply<u32, u32>("max.xorsign.abs.f16x2 %d, %a, %b;", {0x3c00c000}, {0xc0003c00}) ==
          std::vector<u32>{0xc000c000});
    CHECK(apply<u32, u16>("{.reg .pred p; setp.lt.f16 p, %a, %b; selp.u32 %d, 1, 0, p;}", {0xbc00, 0x7e00, 0x8000},
                          {0x3c00, 0x3c00, 0x0000}) == std::vector<u32>{1, 0, 0});
    CHECK(apply<u32, u32>("{.reg .pred p, q; setp.gtu.f16x2 p|q, %a, %b; selp.u32 %d, 1, 0, p; @q add.u32 %d, %d, 2;}",
                          {0x7e003c00, 0x3c004000}, {0x3c004000, 0x3c003c00}) == std::vector<u32>{2, 1});
    CHECK(apply<u32, u32>("set.eq.f16x2.f16x2 %d, %a, %b;", {0x3c004000}, {0x3c003c00}) ==
          std::vector<u32>{0x3c000000});
    CHECK(apply<u32, u32>("set.le.u32.bf16x2 %d, %a, %b;", {0x3f804000}, {0x3f803f80}) == std::vector<u32>{0xffff0000});
}

TEST_CASE("conversions with half types") {
    CHECK(apply<u16, u64>("cvt.rn.f16.s64 %d, %a;", {2049, 2050, 2051, ~0ULL, 1ULL << 40}) ==
          std::vector<u16>{0x6800, 0x6801, 0x6802, 0xbc00, 0x7c00});
    CHECK(apply<u16, u64>("cvt.rn.f16.f64 %d, %a;", {std::bit_cast<u64>(1 + 0x1p-11 + 0x1p-50)}) ==
          std::vector<u16>{0x3c01});
    CHECK(apply<s32, u16>("cvt.rzi.s32.f16 %d, %a;", {0xc248, 0x7c00, 0x7e00}) == std::vector<s32>{-3, INT32_MAX, 0});
    CHECK(apply<u16, u16>("cvt.rni.f16.f16 %d, %a;", {0x3e00, 0x4100, 0xb800}) ==
          std::vector<u16>{0x4000, 0x4000, 0x8000});
    CHECK(apply<u32, u32>("cvt.rn.bf16x2.f32 %d, %a, %b;", {0x3f800000}, {0x40000000}) == std::vector<u32>{0x3f804000});
    CHECK(apply<u32, u32>("cvt.rna.tf32.f32 %d, %a;", {0x3f801000, 0xbf800fff}) ==
          std::vector<u32>{0x3f802000, 0xbf800000});
    // What is too large for a finite number becomes the largest one.
    const std::vector<u32> large = {0x49742400, 0xc9742400, 0x7f800000, 0xff800000, 0x3f800000, 0x477fe000};
    CHECK(apply<u16, u32>("cvt.rn.satfinite.f16.f32 %d, %a;", large) ==
          std::vector<u16>{0x7bff, 0xfbff, 0x7bff, 0xfbff, 0x3c00, 0x7bff});
    CHECK(apply<u16, u32>("cvt.rn.f16.f32 %d, %a;", large) ==
          std::vector<u16>{0x7c00, 0xfc00, 0x7c00, 0xfc00, 0x3c00, 0x7bff});
    CHECK(apply<u16, u32>("cvt.rn.satfinite.bf16.f32 %d, %a;", {0x7f7fffff, 0xff800000}) ==
          std::vector<u16>{0x7f7f, 0xff7f});
    CHECK(apply<u32, u32>("cvt.rna.satfinite.tf32.f32 %d, %a;", {0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000}) ==
          std::vector<u32>{0x7f7fe000, 0xff7fe000, 0x7f7fe000, 0xff7fe000});
    CHECK(apply<u32, u32>("cvt.rna.tf32.f32 %d, %a;", {0x7f7fffff, 0xff800000}) ==
          std::vector<u32>{0x7f800000, 0xff800000});
    CHECK(apply<u16, u32>("cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", {0x447a0000, 0x3f800000},
                          {0xbf800000, 0x7fc00000}) == std::vector<u16>{0x7eb8, 0x387f});
    CHECK(apply<u32, u16>("cvt.rn.f16x2.e4m3x2 %d, %a;", {0x7e01}) == std::vector<u32>{0x5f001800});
    CHECK(apply<u32, u16>("cvt.rn.f16x2.e5m2x2 %d, %a;", {0x3cfc}) == std::vector<u32>{0x3c00fc00});
}

TEST_CASE("half atomics add with one rounding, in lane order") {
    const auto old = apply<u16, u16>(
        "{.reg .b64 g; bar.warp.sync -1; cvta.to.global.u64 g, %p; atom.global.add.noftz.f16 %d, [g], %b;}",
        std::vector<u16>(4, 0x3c00), std::vector<u16>(4, 0x3c00));
    CHECK(old.size() == 4);
    CHECK(vgpu::add_halves<F16>(0x6800, 0x3c00) == 0x6800);  // 2048 + 1
    CHECK(vgpu::add_halves<BF16>(0x3f80, 0x3f80) == 0x4000);
}

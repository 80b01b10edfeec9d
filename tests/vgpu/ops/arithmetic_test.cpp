// One PTX instruction at a time, on operands at the edges of its definition.
#include <cmath>
#include <limits>

#include "support/contains.hpp"
#include "vgpu/instruction.hpp"

using namespace warpgrade;
using vgpu::test::apply;
using vgpu::test::Machine;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
const float nan_value = std::numeric_limits<float>::quiet_NaN();
u32 as_bits(float v) { return std::bit_cast<u32>(v); }

}  // namespace

TEST_CASE("integer arithmetic wraps") {
    CHECK(apply<s32, s32>("add.s32 %d, %a, %b;", {INT32_MAX, -1}, {1, 1}) == std::vector<s32>{INT32_MIN, 0});
    CHECK(apply<u64, u64>("sub.s64 %d, %a, %b;", {0, 5}, {1, 7}) == std::vector<u64>{~0ULL, ~0ULL - 1});
    CHECK(apply<s32, s32>("mul.hi.s32 %d, %a, %b;", {INT32_MIN, -1, 65536}, {2, 1, 65536}) ==
          std::vector<s32>{-1, -1, 1});
    CHECK(apply<u32, u32>("mul.hi.u32 %d, %a, %b;", {0xffffffffu}, {0xffffffffu}) == std::vector<u32>{0xfffffffeu});
    CHECK(apply<u64, u64>("mul.hi.u64 %d, %a, %b;", {~0ULL}, {~0ULL}) == std::vector<u64>{~0ULL - 1});
    CHECK(apply<s64, s32>("mul.wide.s32 %d, %a, %b;", {-3, INT32_MIN}, {7, INT32_MIN}) ==
          std::vector<s64>{-21, 1LL << 62});
    CHECK(apply<u64, u32>("mul.wide.u32 %d, %a, -1431655765;", {3}) == std::vector<u64>{3ULL * 2863311531u});
    CHECK(apply<s32, s32>("mad.lo.s32 %d, %a, %b, %c;", {3, -4}, {5, 6}, {7, 8}) == std::vector<s32>{22, -16});
    CHECK(apply<s64, s32, s32, s64>("mad.wide.s32 %d, %a, %b, %c;", {-3}, {5}, {1LL << 40}) ==
          std::vector<s64>{(1LL << 40) - 15});
    CHECK(apply<std::uint16_t, std::uint16_t>("mul.lo.u16 %d, %a, %b;", {0xffff}, {0xffff}) ==
          std::vector<std::uint16_t>{1});
}

TEST_CASE("division by zero and of the smallest number have results") {
    CHECK(apply<u32, u32>("div.u32 %d, %a, %b;", {7, 7}, {2, 0}) == std::vector<u32>{3, ~0u});
    CHECK(apply<s32, s32>("div.s32 %d, %a, %b;", {-7, 7, INT32_MIN}, {2, 0, -1}) ==
          std::vector<s32>{-3, -1, INT32_MIN});
    CHECK(apply<s32, s32>("rem.s32 %d, %a, %b;", {-7, 7, INT32_MIN}, {3, 0, -1}) == std::vector<s32>{-1, -1, 0});
    CHECK(apply<u64, u64>("rem.u64 %d, %a, %b;", {100}, {7}) == std::vector<u64>{2});
}

TEST_CASE("carries run through 64 and 96 bits") {
    CHECK(apply<u64, u64, u64>(
              "{ .reg .b32 %x<6>; mov.b64 {%x0,%x1}, %a; mov.b64 {%x2,%x3}, %b; add.cc.u32 %x4, %x0, %x2; "
              "addc.u32 %x5, %x1, %x3; mov.b64 %d, {%x4,%x5}; }",
              {0xffffffffULL, ~0ULL}, {1, 1}) == std::vector<u64>{0x100000000ULL, 0});
    CHECK(apply<u64, u64, u64>(
              "{ .reg .b32 %x<6>; mov.b64 {%x0,%x1}, %a; mov.b64 {%x2,%x3}, %b; sub.cc.u32 %x4, %x0, %x2; "
              "subc.u32 %x5, %x1, %x3; mov.b64 %d, {%x4,%x5}; }",
              {0x100000000ULL, 5}, {1, 7}) == std::vector<u64>{0xffffffffULL, ~0ULL - 1});
}

TEST_CASE("only what is named so takes the carry in, or leaves one") {
    // The carry is set when each of these begins.
    const auto with_carry = [](const std::string& body) {
        return apply<u32, u32>("{ .reg .b32 %x; add.cc.u32 %x, -1, 1; " + body + " }", {5}, {3}, {2}).at(0);
    };
    CHECK(with_carry("add.cc.u32 %d, %a, %b;") == 8);
    CHECK(with_carry("addc.u32 %d, %a, %b;") == 9);
    CHECK(with_carry("sub.cc.u32 %d, %a, %b;") == 2);
    CHECK(with_carry("subc.u32 %d, %a, %b;") == 1);
    CHECK(with_carry("mad.lo.cc.u32 %d, %a, %b, %c;") == 17);
    CHECK(with_carry("madc.lo.u32 %d, %a, %b, %c;") == 18);
    CHECK(with_carry("mad.hi.cc.u32 %d, %a, %b, %c;") == 2);
    CHECK(with_carry("madc.hi.u32 %d, %a, %b, %c;") == 3);
    CHECK(with_carry("addc.u32 %x, %a, %b; addc.u32 %d, %a, %b;") == 9);  // this leaves the carry unchanged
    CHECK(with_carry("addc.cc.u32 %x, %a, %b; addc.u32 %d, %a, %b;") == 8);
}

TEST_CASE("shifts clamp at the width, funnels and fields take their bits") {
    CHECK(apply<u32, u32, u32>("shl.b32 %d, %a, %b;", {1, 1, 1}, {31, 32, 4000000000u}) ==
          std::vector<u32>{1u << 31, 0, 0});
    CHECK(apply<s32, s32, u32>("shr.s32 %d, %a, %b;", {-8, -8, 8}, {1, 99, 99}) == std::vector<s32>{-4, -1, 0});
    CHECK(apply<u64, u64, u32>("shr.u64 %d, %a, %b;", {1ULL << 63, 1}, {63, 64}) == std::vector<u64>{1, 0});
    CHECK(apply<u32, u32>("shf.l.wrap.b32 %d, %a, %b, %c;", {0x80000001u}, {1u}, {33u}) == std::vector<u32>{3});
    CHECK(apply<u32, u32>("prmt.b32 %d, %a, %b, 21554;", {0x33221100u}, {0x77665544u}) ==
          std::vector<u32>{0x55443322u});
    CHECK(apply<s32, s32>("bfe.s32 %d, %a, 4, 8;", {0xff0}) == std::vector<s32>{-1});
    CHECK(apply<u32, u32>("bfe.u32 %d, %a, 28, 8;", {0xf0000000u}) == std::vector<u32>{15});
    CHECK(apply<u32, u32>("bfi.b32 %d, %a, %b, 8, 4;", {0xf}, {0xffff0000u}) == std::vector<u32>{0xffff0f00u});
    CHECK(apply<u32, u32>("lop3.b32 %d, %a, %b, %c, 0x96;", {12}, {10}, {6}) == std::vector<u32>{12 ^ 10 ^ 6});
    CHECK(apply<u32, u32>("popc.b32 %d, %a;", {0xf0f0}) == std::vector<u32>{8});
    CHECK(apply<u32, u64>("clz.b64 %d, %a;", {1, 0}) == std::vector<u32>{63, 64});
    CHECK(apply<u32, s32>("bfind.s32 %d, %a;", {-1, -2, 256}) == std::vector<u32>{~0u, 0, 8});
    CHECK(apply<u32, u32>("brev.b32 %d, %a;", {1, 0x80000000u}) == std::vector<u32>{0x80000000u, 1});
    CHECK(apply<u32, u32>("dp4a.s32.s32 %d, %a, %b, %c;", {0xff020304u}, {0x01010101u}, {10}) == std::vector<u32>{18});
}

TEST_CASE("floats round as IEEE says and NaN is canonical") {
    CHECK(apply<float, float>("fma.rn.f32 %d, %a, %b, %c;", {1 + 0x1p-12f}, {1 - 0x1p-12f}, {-1}) ==
          std::vector<float>{-0x1p-24f});
    CHECK(apply<float, float>("add.rz.f32 %d, %a, %b;", {1}, {0x1p-24f + 0x1p-30f}) == std::vector<float>{1});
    CHECK(apply<float, float>("add.rp.f32 %d, %a, %b;", {1}, {0x1p-30f}) == std::vector<float>{1 + 0x1p-23f});
    CHECK(apply<float, float>("div.rn.f32 %d, %a, %b;", {1, -1}, {3, 0}) == std::vector<float>{1.0f / 3, -inf});
    CHECK(apply<double, double>("sqrt.rn.f64 %d, %a;", {2}) == std::vector<double>{std::sqrt(2.0)});
    CHECK(as_bits(apply<float, float>("sub.f32 %d, %a, %b;", {inf}, {inf})[0]) == 0x7fffffffu);
    CHECK(as_bits(apply<float, float>("mul.f32 %d, %a, %b;", {std::bit_cast<float>(0xffc12345u)}, {1})[0]) ==
          0x7fffffffu);
}

TEST_CASE("ftz flushes subnormals, sat clamps to one") {
    CHECK(apply<float, float>("mul.f32 %d, %a, %b;", {0x1p-100f}, {0x1p-40f}) == std::vector<float>{0x1p-140f});
    CHECK(as_bits(apply<float, float>("mul.ftz.f32 %d, %a, %b;", {-0x1p-100f}, {0x1p-40f})[0]) == 0x80000000u);
    CHECK(apply<float, float>("add.ftz.f32 %d, %a, %b;", {0x1p-140f}, {1}) == std::vector<float>{1});
    CHECK(apply<float, float>("add.sat.f32 %d, %a, %b;", {2, -2, 0.25f}, {1, 1, 0.5f}) ==
          std::vector<float>{1, 0, 0.75f});
}

TEST_CASE("min and max prefer numbers and order the zeros") {
    CHECK(apply<float, float>("min.f32 %d, %a, %b;", {nan_value, 1, -2}, {3, nan_value, 5}) ==
          std::vector<float>{3, 1, -2});
    CHECK(as_bits(apply<float, float>("min.f32 %d, %a, %b;", {0.0f}, {-0.0f})[0]) == 0x80000000u);
    CHECK(as_bits(apply<float, float>("max.f32 %d, %a, %b;", {-0.0f}, {0.0f})[0]) == 0u);
    CHECK(as_bits(apply<float, float>("max.f32 %d, %a, %b;", {nan_value}, {nan_value})[0]) == 0x7fffffffu);
}

TEST_CASE("approximate functions are close") {
    const std::vector<float> x{0.1f, 1, 2.5f, 7};
    const auto near_to = [&](const char* op, double (*f)(double), double relative) {
        const auto r = apply<float, float>(std::string(op) + " %d, %a;", x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            CAPTURE(op, x[i]);
            CHECK(std::fabs(r[i] - f(x[i])) <= relative * std::fabs(f(x[i])) + 1e-7);
        }
    };
    near_to(
        "ex2.approx.f32", [](double v) { return std::exp2(v); }, 2e-7);
    near_to(
        "lg2.approx.f32", [](double v) { return std::log2(v); }, 2e-7);
    near_to(
        "sin.approx.f32", [](double v) { return std::sin(v); }, 1e-6);
    near_to(
        "cos.approx.f32", [](double v) { return std::cos(v); }, 1e-6);
    near_to(
        "rsqrt.approx.f32", [](double v) { return 1 / std::sqrt(v); }, 2e-7);
    near_to(
        "rcp.approx.ftz.f32", [](double v) { return 1 / v; }, 2e-7);
    near_to(
        "tanh.approx.f32", [](double v) { return std::tanh(v); }, 1e-3);
}

TEST_CASE("conversions round, clamp and cut") {
    CHECK(apply<s32, float>("cvt.rzi.s32.f32 %d, %a;", {2.7f, -2.7f, 3e10f, -3e10f, nan_value}) ==
          std::vector<s32>{2, -2, INT32_MAX, INT32_MIN, 0});
    CHECK(apply<s32, float>("cvt.rni.s32.f32 %d, %a;", {2.5f, 3.5f, -2.5f}) == std::vector<s32>{2, 4, -2});
    CHECK(apply<u32, float>("cvt.rpi.u32.f32 %d, %a;", {2.1f, -5}) == std::vector<u32>{3, 0});
    CHECK(apply<float, float>("cvt.rmi.f32.f32 %d, %a;", {2.7f, -2.1f}) == std::vector<float>{2, -3});
    CHECK(apply<float, u32>("cvt.rn.f32.u32 %d, %a;", {16777217u, 0xffffffffu}) ==
          std::vector<float>{16777216, 4294967296.0f});
    CHECK(apply<float, u32>("cvt.rz.f32.u32 %d, %a;", {0xffffffffu}) == std::vector<float>{4294967040.0f});
    CHECK(apply<float, double>("cvt.rn.f32.f64 %d, %a;", {0.1}) == std::vector<float>{0.1f});
    CHECK(apply<s64, s32>("cvt.s64.s32 %d, %a;", {-5}) == std::vector<s64>{-5});
    CHECK(apply<u32, u32>("cvt.u32.u8 %d, %a;", {0x1ff}) == std::vector<u32>{0xff});
    CHECK(apply<s32, u32>("cvt.s32.s8 %d, %a;", {0x80}) == std::vector<s32>{-128});
    CHECK(apply<s32, s32>("cvt.sat.s8.s32 %d, %a;", {300, -300}) == std::vector<s32>{127, -128});
}

TEST_CASE("quotients in double precision") {
    CHECK(apply<double, double>("div.rn.f64 %d, %a, %b;", {1, -1}, {3, 0}) ==
          std::vector<double>{1.0 / 3, -std::numeric_limits<double>::infinity()});
    CHECK(apply<double, double>("rcp.rn.f64 %d, %a;", {4, 3}) == std::vector<double>{0.25, 1.0 / 3});
    // The low 32 bits of operand and result are ignored.
    const auto third = std::bit_cast<double>(0x3fd5'5555'0000'0000);
    CHECK(apply<double, double>("rcp.approx.ftz.f64 %d, %a;", {3, std::nextafter(3.0, 4.0)}) ==
          std::vector<double>{third, third});
}

TEST_CASE("128 bits move as two halves") {
    CHECK(apply<u32, u32>("{.reg .b128 q, r; .reg .b64 x, y; cvt.u64.u32 x, %a; add.u64 y, x, 5; mov.b128 q, {x, y};"
                          "mov.b128 r, q; mov.b128 {x, y}, r; sub.u64 y, y, x; shl.b64 y, y, 8; add.u64 x, x, y;"
                          "cvt.u32.u64 %d, x;}",
                          {7, 9}) == std::vector<u32>{5 * 256 + 7, 5 * 256 + 9});
}

TEST_CASE("comparisons know NaN, selections follow predicates") {
    const auto compare = [](const std::string& how) {
        return apply<u32, float>("setp." + how + ".f32 %t, %a, %b; selp.u32 %d, 1, 0, %t;", {1, 2, 2, nan_value},
                                 {2, 1, 2, 1});
    };
    CHECK(compare("lt") == std::vector<u32>{1, 0, 0, 0});
    CHECK(compare("ltu") == std::vector<u32>{1, 0, 0, 1});
    CHECK(compare("ne") == std::vector<u32>{1, 1, 0, 0});
    CHECK(compare("neu") == std::vector<u32>{1, 1, 0, 1});
    CHECK(compare("nan") == std::vector<u32>{0, 0, 0, 1});
    CHECK(apply<u32, u32>("setp.lt.s32 %t|%u, %a, %b; selp.u32 %d, 1, 0, %u;", {5, 0xffffffffu}, {6, 6}) ==
          std::vector<u32>{0, 0});
    CHECK(apply<u32, u32>("setp.gt.u32 %t, %a, 3; setp.lt.and.u32 %u, %a, 6, !%t; selp.u32 %d, 1, 0, %u;", {2, 4, 7}) ==
          std::vector<u32>{1, 0, 0});
    const std::pair<const char*, std::vector<u32>> combinations[] = {
        {"and", {0, 0, 1, 0}}, {"or", {1, 1, 1, 1}}, {"xor", {1, 1, 0, 1}}};
    for (const auto& [how, expected] : combinations) {
        const std::string body = "setp.gt.u32 %t, %a, 3; setp.lt." + std::string(how) + ".u32 %u, %a, 6, %t;";
        CHECK(apply<u32, u32>(body + "selp.u32 %d, 1, 0, %u;", {2, 7, 4, 3}) == expected);
        CHECK(apply<u32, u32>(body + "selp.u32 %d, 1, 0, %t;", {2, 7, 4, 3}) == std::vector<u32>{0, 1, 1, 0});
    }
    CHECK(apply<float, std::uint16_t>("set.lt.f32.f16 %d, %a, %b;", {0x3c00, 0x4000}, {0x4000, 0x3c00}) ==
          std::vector<float>{1, 0});
    CHECK(apply<s32, s32>("mov.b32 %d, 9; setp.lt.s32 %t, %a, 0; @%t neg.s32 %d, %a; @!%t mov.b32 %d, 1;", {-4, 4}) ==
          std::vector<s32>{4, 1});
}

TEST_CASE("instructions under a partial mask leave other lanes alone") {
    // 40 threads: the second warp has 8 lanes; odd threads skip the addition.
    std::vector<u32> a(40), expected(40);
    for (u32 i = 0; i < 40; ++i) {
        a[i] = i;
        expected[i] = i % 2 ? 1000 + i : 7 + i;
    }
    CHECK(apply<u32, u32>(
              "add.u32 %d, %a, 7; and.b32 %b, %a, 1; setp.eq.u32 %t, %b, 0; @%t bra L; add.u32 %d, %a, 1000; L:", a) ==
          expected);
}

TEST_CASE("shadowed registers of inline assembly are their own") {
    CHECK(apply<u32, u32>("setp.gt.u32 %t, %a, 5; { .reg .pred %t; setp.lt.u32 %t, %a, 0; @%t mov.b32 %b, 1; } "
                          "selp.u32 %d, 1, 2, %t;",
                          {3, 9}) == std::vector<u32>{2, 1});
}

TEST_CASE("predicates are combined as they are or negated, in the lanes that are on") {
    const std::vector<u32> p = {0, 0, 1, 1}, q = {0, 1, 0, 1};
    const auto run = [&](const std::string& lines) {
        return apply<u32, u32>(
            "{ .reg .pred p, q, r; setp.ne.u32 p, %a, 0; setp.ne.u32 q, %b, 0; " + lines + " selp.u32 %d, 1, 0, r; }",
            p, q);
    };
    for (const bool not_p : {false, true})
        for (const bool not_q : {false, true}) {
            CAPTURE(not_p, not_q);
            const std::string operands = std::string(not_p ? " r, !p, " : " r, p, ") + (not_q ? "!q;" : "q;");
            std::vector<u32> both(4), any(4), one(4), no(4);
            for (std::size_t i = 0; i < 4; ++i) {
                const u32 x = p[i] ^ u32 { not_p }, y = q[i] ^ u32 { not_q };
                both[i] = x & y, any[i] = x | y, one[i] = x ^ y, no[i] = 1 - x;
            }
            CHECK(run("and.pred" + operands) == both);
            CHECK(run("or.pred" + operands) == any);
            CHECK(run("xor.pred" + operands) == one);
            CHECK(run(std::string("not.pred r, ") + (not_p ? "!p;" : "p;")) == no);
        }
    CHECK(run("setp.eq.u32 r, 0, 0; @q and.pred r, p, !p;") == std::vector<u32>{1, 0, 1, 0});
    CHECK(run("setp.eq.u32 r, 0, 1; @q not.pred r, p;") == std::vector<u32>{0, 1, 0, 0});
}

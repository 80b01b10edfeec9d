// What the lanes of a warp exchange, one instruction at a time, against its definition for each lane.
#include <bit>
#include <functional>
#include <random>

#include "judge/catch.hpp"
#include "vgpu/instruction.hpp"

using namespace warpgrade;
using vgpu::test::apply;
using u32 = std::uint32_t;
using s32 = std::int32_t;

namespace {

std::vector<u32> lanes(const std::function<u32(u32)>& f, u32 n = 32) {
    std::vector<u32> v(n);
    for (u32 l = 0; l < n; ++l) v[l] = f(l);
    return v;
}

// Lanes outside `members` skip the instruction and give `otherwise`.
std::string for_members(u32 members, const std::string& instruction, u32 otherwise = 77) {
    return "mov.b32 %d, " + std::to_string(otherwise) + "; { .reg .b32 %m; .reg .pred %w; shr.u32 %m, " +
           std::to_string(members) + ", %i; and.b32 %m, %m, 1; setp.eq.u32 %w, %m, 0; @%w bra.uni L; " + instruction +
           " L: }";
}

}  // namespace

// In CUDA's words: each segment has `width` lanes; beyond it, a lane gets its own value, and an index wraps.
TEST_CASE("shuffles reach as far as their width and wrap where they are said to") {
    const auto values = lanes([](u32 l) { return 100 + 3 * l; });
    std::mt19937 random(1);
    for (const u32 width : {1u, 2u, 4u, 8u, 16u, 32u}) {
        for (int round = 0; round < 3; ++round) {
            // In the first round values as programs use them, then any: only five bits count.
            const auto by = lanes([&](u32 l) { return round == 0 ? l % 7 : random() % (round == 1 ? 40 : ~0u); });
            const auto check = [&](const std::string& how, u32 clamp, const std::function<int(int, int)>& from) {
                CAPTURE(how, width, round);
                const auto expected = lanes([&](u32 l) {
                    const int source = from(static_cast<int>(l), static_cast<int>(by[l] % 32));
                    return source < 0 ? values[l] : values[static_cast<u32>(source)] + 1000;
                });
                CHECK(apply<u32, u32>("shfl.sync." + how + ".b32 %d|%t, %a, %b, " +
                                          std::to_string((32 - width) << 8 | clamp) + ", -1; @%t add.u32 %d, %d, 1000;",
                                      values, by) == expected);
            };
            const int w = static_cast<int>(width);
            check("up", 0, [=](int l, int d) { return l % w >= d ? l - d : -1; });
            check("down", 31, [=](int l, int d) { return l % w + d < w ? l + d : -1; });
            check("bfly", 31, [=](int l, int d) { return (l ^ d) < l / w * w + w ? l ^ d : -1; });
            check("idx", 31, [=](int l, int d) { return l / w * w + d % w; });
        }
    }
    // A clamp below the segment's last lane: lanes 0 to 9 may be asked.
    CHECK(apply<u32, u32>("shfl.sync.idx.b32 %d|%t, %a, %b, 9, -1; @%t add.u32 %d, %d, 1000;", values, lanes([](u32 l) {
                              return l;
                          })) == lanes([&](u32 l) { return values[l] + (l <= 9 ? 1000 : 0); }));
}

TEST_CASE("votes count the members' predicates, as they are or negated") {
    for (const u32 members : {~0u, 0x00ff00ffu, 0x80000000u, 1u}) {
        for (const u32 holds : {0u, ~0u, 1u, 0x80000000u, 0x7fffffffu, 0xaaaaaaaau, 0x000000ffu, ~members, members}) {
            for (const bool negated : {false, true}) {
                CAPTURE(members, holds, negated);
                const u32 voted = (negated ? ~holds : holds) & members;
                const auto vote = [&](const std::string& how) {
                    const std::string set =
                        "{ .reg .b32 %m; shr.u32 %m, %a, %i; and.b32 %m, %m, 1; "
                        "setp.ne.u32 %t, %m, 0; } ";
                    const std::string p = negated ? "!%t" : "%t", mask = std::to_string(members);
                    const std::string instruction =
                        how == "ballot"
                            ? "vote.sync.ballot.b32 %d, " + p + ", " + mask + ";"
                            : "vote.sync." + how + ".pred %u, " + p + ", " + mask + "; selp.u32 %d, 1, 0, %u;";
                    return apply<u32, u32>(set + for_members(members, instruction), std::vector<u32>(32, holds));
                };
                const auto expect = [&](u32 result) {
                    return lanes([=](u32 l) { return members >> l & 1 ? result : 77; });
                };
                CHECK(vote("ballot") == expect(voted));
                CHECK(vote("all") == expect(voted == members));
                CHECK(vote("any") == expect(voted != 0));
                CHECK(vote("uni") == expect(voted == members || voted == 0));
            }
        }
    }
}

// Odd and even lanes reach votes of their own, which are one vote. Each lane votes as its own instruction says.
TEST_CASE("votes in two branches negate where they are negated") {
    for (const std::string even : {"%t", "!%t"}) {
        for (const std::string odd : {"%t", "!%t"}) {
            for (const u32 limit : {0u, 9u, 40u}) {
                CAPTURE(even, odd, limit);
                u32 voted = 0;
                for (u32 l = 0; l < 32; ++l) voted |= u32{((l % 2 ? odd : even) == "%t") == (l < limit)} << l;
                const auto in_two_branches = [&](const std::string& vote, const std::string& d,
                                                 const std::string& end) {
                    return apply<u32, u32>(
                        "and.b32 %c, %a, 1; setp.ne.u32 %u, %c, 0; setp.lt.u32 %t, %a, %b; @%u bra O; "
                        "vote.sync." +
                            vote + " " + d + ", " + even + ", -1; bra.uni E; O: vote.sync." + vote + " " + d + ", " +
                            odd + ", -1; E: " + end,
                        lanes([](u32 l) { return l; }), std::vector<u32>(32, limit));
                };
                const std::string truth = "selp.u32 %d, 1, 0, %t;";
                CHECK(in_two_branches("ballot.b32", "%d", "") == std::vector<u32>(32, voted));
                CHECK(in_two_branches("all.pred", "%t", truth) == std::vector<u32>(32, voted == ~0u));
                CHECK(in_two_branches("any.pred", "%t", truth) == std::vector<u32>(32, voted != 0));
                CHECK(in_two_branches("uni.pred", "%t", truth) == std::vector<u32>(32, voted == ~0u || voted == 0));
            }
        }
    }
}

TEST_CASE("matches name the members with the same value") {
    const auto values = lanes([](u32 l) { return l == 5 ? 0x80000001u : l % 3; });
    for (const u32 members : {~0u, 0x0ffff0ffu}) {
        const auto any = lanes([&](u32 l) {
            if (!(members >> l & 1)) return 77u;
            u32 same = 0;
            for (u32 o = 0; o < 32; ++o) same |= u32{values[o] == values[l] && (members >> o & 1)} << o;
            return same;
        });
        CHECK(apply<u32, u32>(for_members(members, "match.any.sync.b32 %d, %a, " + std::to_string(members) + ";"),
                              values) == any);
    }
    const std::string all = "match.all.sync.b32 %d|%t, %a, 0xffff; @%t add.u32 %d, %d, 1000;";
    const auto first_16 = [](u32 result) { return lanes([=](u32 l) { return l < 16 ? result : 77; }); };
    CHECK(apply<u32, u32>(for_members(0xffff, all), lanes([](u32 l) { return l / 16; })) == first_16(0xffff + 1000));
    CHECK(apply<u32, u32>(for_members(0xffff, all), lanes([](u32 l) { return l == 15; })) == first_16(0));
    // All 64 bits are compared.
    std::vector<std::uint64_t> wide(32);
    for (u32 l = 0; l < 32; ++l) wide[l] = std::uint64_t{l % 2} << 63;
    CHECK(apply<u32, std::uint64_t>("match.any.sync.b64 %d, %a, -1;", wide) ==
          lanes([](u32 l) { return l % 2 ? 0xaaaaaaaau : 0x55555555u; }));
    CHECK(apply<u32, std::uint64_t>("match.all.sync.b64 %d|%t, %a, -1; @%t add.u32 %d, %d, 1;", wide) ==
          std::vector<u32>(32, 0));
}

TEST_CASE("reductions over members know signs, and leave others out") {
    const auto values = lanes([](u32 l) { return l * 0x9e3779b9u; });
    for (const u32 members : {~0u, 0x00fff0f0u, 0x80000000u}) {
        const auto check = [&](const std::string& what, auto combine) {
            CAPTURE(what, members);
            std::optional<u32> right;
            for (u32 l = 0; l < 32; ++l)
                if (members >> l & 1) right = right ? combine(*right, values[l]) : values[l];
            CHECK(apply<u32, u32>(
                      for_members(members, "redux.sync." + what + " %d, %a, " + std::to_string(members) + ";"),
                      values) == lanes([&](u32 l) { return members >> l & 1 ? *right : 77; }));
        };
        check("add.u32", [](u32 a, u32 b) { return a + b; });
        check("add.s32", [](u32 a, u32 b) { return a + b; });
        check("min.u32", [](u32 a, u32 b) { return std::min(a, b); });
        check("max.u32", [](u32 a, u32 b) { return std::max(a, b); });
        check("min.s32",
              [](u32 a, u32 b) { return static_cast<u32>(std::min(static_cast<s32>(a), static_cast<s32>(b))); });
        check("max.s32",
              [](u32 a, u32 b) { return static_cast<u32>(std::max(static_cast<s32>(a), static_cast<s32>(b))); });
        check("and.b32", [](u32 a, u32 b) { return a & b; });
        check("or.b32", [](u32 a, u32 b) { return a | b; });
        check("xor.b32", [](u32 a, u32 b) { return a ^ b; });
    }
}

TEST_CASE("the lowest member is elected, and knows it") {
    for (const u32 members : {~0u, 0xffffff00u, 0x80000000u})
        CHECK(apply<u32, u32>(
                  for_members(members, "elect.sync %d|%t, " + std::to_string(members) + "; @%t add.u32 %d, %d, 1000;"),
                  std::vector<u32>(32)) == lanes([=](u32 l) {
                  const auto leader = static_cast<u32>(std::countr_zero(members));
                  return members >> l & 1 ? leader + (l == leader ? 1000 : 0) : 77;
              }));
}

TEST_CASE("activemask names the lanes that are there") {
    CHECK(apply<u32, u32>(for_members(0x0f0f0f0f, "activemask.b32 %d;"), std::vector<u32>(32)) ==
          lanes([](u32 l) { return l % 8 < 4 ? 0x0f0f0f0fu : 77; }));
    CHECK(apply<u32, u32>("activemask.b32 %d;", std::vector<u32>(40)) ==
          lanes([](u32 l) { return l < 32 ? ~0u : 0xffu; }, 40));
}

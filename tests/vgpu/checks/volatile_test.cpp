// Which pairs of accesses race: plain, volatile and atomic accesses of one warp and of several warps.
#include <algorithm>
#include <string>
#include <vector>

#include "judge/catch.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

enum class Kind { plain, is_volatile, atomic };
struct One {
    Kind kind;
    bool writes;
};
constexpr One accesses[] = {{Kind::plain, false},      {Kind::plain, true},   {Kind::is_volatile, false},
                            {Kind::is_volatile, true}, {Kind::atomic, false}, {Kind::atomic, true}};

std::string instruction(const One& one, const std::string& space) {
    const std::string how = one.kind == Kind::is_volatile ? ".volatile"
                            : one.kind == Kind::atomic    ? ".relaxed.gpu"
                                                          : "";
    return one.writes ? "st" + how + "." + space + ".u32 [%p], %i;" : "ld" + how + "." + space + ".u32 %v, [%p];";
}

// True if the checks find a race between these accesses of one word by these threads in this order.
bool race(const std::string& space, const std::vector<std::pair<unsigned, One>>& in_order, bool barrier = false) {
    std::string ptx =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 word) {\n.shared "
        ".align 4 .b8 room[4];\n.reg .b32 %i, %v;\n.reg .b64 %p;\n.reg .pred %t;\nmov.u32 %i, %tid.x;\n";
    ptx += space == "shared" ? "mov.u64 %p, room; setp.eq.u32 %t, %i, 0; @%t st.shared.u32 [%p], 1234; bar.sync 0;\n"
                             : "ld.param.u64 %p, [word];\n";
    for (const auto& [thread, one] : in_order) {
        ptx += "setp.eq.u32 %t, %i, " + std::to_string(thread) + "; @%t " + instruction(one, space) + '\n';
        if (barrier) ptx += "bar.sync 0;\n";
    }
    Machine m(1, ptx + "ret;\n}\n");
    const auto word = m.upload(std::vector<int>{1234});
    const auto found = m.diagnose("k", {1}, {96}, word);
    return std::ranges::any_of(found,
                               [](const auto& d) { return std::string_view(d.rule->id).starts_with("racecheck"); });
}

}  // namespace

TEST_CASE("two accesses race if one writes and one is plain") {
    for (const std::string space : {"shared", "global"}) {
        for (const One& first : accesses) {
            for (const One& second : accesses) {
                CAPTURE(space, first.kind, first.writes, second.kind, second.writes);
                const bool writes = first.writes || second.writes;
                const bool plain = first.kind == Kind::plain || second.kind == Kind::plain;
                CHECK(race(space, {{33, first}, {66, second}}) == (writes && plain));
                CHECK_FALSE(race(space, {{33, first}, {66, second}}, true));
                CHECK_FALSE(race(space, {{33, first}, {33, second}}));
                // Lanes of a warp no longer run in lockstep, so volatile does not order them.
                const bool lockstep = first.kind == Kind::is_volatile && second.kind == Kind::is_volatile;
                CHECK(race(space, {{33, first}, {34, second}}) == (writes && (plain || lockstep)));
            }
        }
    }
}

// Memory has only one mark for several readers: a plain read among them must not be forgotten.
TEST_CASE("a write races with a plain read before or after a volatile one") {
    for (const std::string space : {"shared", "global"}) {
        for (const Kind first : {Kind::plain, Kind::is_volatile, Kind::atomic}) {
            for (const Kind second : {Kind::plain, Kind::is_volatile, Kind::atomic}) {
                for (const Kind write : {Kind::plain, Kind::is_volatile, Kind::atomic}) {
                    CAPTURE(space, first, second, write);
                    const bool plain = first == Kind::plain || second == Kind::plain || write == Kind::plain;
                    CHECK(race(space, {{1, {first, false}}, {33, {second, false}}, {66, {write, true}}}) == plain);
                    CHECK(race(space, {{1, {first, false}}, {2, {second, false}}, {66, {write, true}}}) == plain);
                }
            }
        }
    }
}

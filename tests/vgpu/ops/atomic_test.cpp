// Atomics and reductions on memory, in every space, on operands at the edges of their definition.
#include <cmath>
#include <limits>

#include "judge/catch.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

namespace {

struct Wide {
    u64 low, high;
    bool operator==(const Wide&) const = default;
};

// "b32" for a register that holds a T, and for the memory.
template <class T>
std::string bits() {
    return "b" + std::to_string(8 * sizeof(T));
}

enum class Where { global, shared, generic_global, generic_shared };
constexpr Where everywhere[] = {Where::global, Where::shared, Where::generic_global, Where::generic_shared};

template <class T>
struct Done {
    std::vector<T> now, before;
};

// Each thread performs "atom.….<operation>" on its own memory, which holds `old`.
template <class T>
Done<T> perform(Where where, const std::string& operation, const std::vector<T>& old, const std::vector<T>& b,
                const std::vector<T>& c, bool reduction, bool three) {
    const bool shared = where == Where::shared || where == Where::generic_shared;
    const std::string size = std::to_string(sizeof(T)), type = bits<T>();
    const std::string space = where == Where::global ? ".global" : where == Where::shared ? ".shared" : "";
    const std::string at = where == Where::shared ? "%s" : where == Where::generic_shared ? "%g" : "%now";
    const auto pointer = [&](const std::string& name) {
        return "ld.param.u64 %" + name + ", [" + name + "]; mad.wide.u32 %" + name + ", %i, " + size + ", %" + name +
               ";";
    };
    std::string ptx =
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 now, .param .u64 b, "
        ".param .u64 c, .param .u64 before) {\n.shared .align 16 .b8 room[1024];\n.reg .b32 %i, %s, %t;\n"
        ".reg .b64 %now, %b, %c, %before, %g, %l, %h;\n.reg ." +
        type + " %x, %y, %z;\nmov.u32 %i, %tid.x;\n";
    for (const char* name : {"now", "b", "c", "before"}) ptx += pointer(name);
    // No load or store moves 128 bits as one element.
    const auto load = [&](const std::string& x, const std::string& from, const std::string& address) {
        return sizeof(T) < 16 ? "ld." + from + "." + type + " " + x + ", [" + address + "];\n"
                              : "ld." + from + ".v2.b64 {%l, %h}, [" + address + "]; mov.b128 " + x + ", {%l, %h};\n";
    };
    const auto store = [&](const std::string& to, const std::string& address, const std::string& x) {
        return sizeof(T) < 16 ? "st." + to + "." + type + " [" + address + "], " + x + ";\n"
                              : "mov.b128 {%l, %h}, " + x + "; st." + to + ".v2.b64 [" + address + "], {%l, %h};\n";
    };
    ptx += load("%x", "global", "%b") + load("%y", "global", "%c") + load("%z", "global", "%now");
    ptx += "mov.u32 %s, room; mad.lo.u32 %s, %i, " + size + ", %s; cvt.u64.u32 %g, %s; cvta.shared.u64 %g, %g;";
    if (shared) ptx += store("shared", "%s", "%z");
    ptx += (reduction ? "red" : "atom") + space + "." + operation + (reduction ? " [" : " %z, [") + at + "], %x" +
           (three ? ", %y;" : ";");
    if (!reduction) ptx += store("global", "%before", "%z");
    if (shared) ptx += load("%z", "shared", "%s") + store("global", "%now", "%z");
    Machine m(1, ptx + "ret;\n}\n");
    const auto now = m.upload(old), before = m.upload(old);
    const auto counters =
        m.launch("k", {1}, {static_cast<u32>(old.size())}, now, m.upload(b), m.upload(c), before).counters;
    CHECK(counters.atomic_requests == (shared ? 0 : 1));
    CHECK(counters.shared_atomic_requests == (shared ? 1 : 0));
    return {m.download(now), m.download(before)};
}

template <class T>
struct Row {
    T old, b, now;
};

// In every space, with and without the old value.
template <class T>
void check(const std::string& operation, const std::vector<Row<T>>& rows) {
    std::vector<T> old, b, now;
    for (const auto& row : rows) old.push_back(row.old), b.push_back(row.b), now.push_back(row.now);
    for (const Where where : everywhere) {
        CAPTURE(operation, where);
        const auto done = perform(where, operation, old, b, b, false, false);
        CHECK(done.now == now);
        CHECK(done.before == old);
        if (operation.starts_with("exch")) continue;
        CHECK(perform(where, operation, old, b, b, true, false).now == now);
    }
}

constexpr u32 top = 0x80000000u;

}  // namespace

TEST_CASE("atomics of integers wrap, and know signs") {
    check<u32>("add.u32", {{~0u, 2, 1}, {5, 0, 5}});
    check<s32>("add.s32", {{INT32_MAX, 1, INT32_MIN}, {-3, 5, 2}});
    check<u64>("add.u64", {{~0ULL, 2, 1}, {1ULL << 32, 1ULL << 33, 3ULL << 32}});
    check<u32>("and.b32", {{12, 10, 8}, {~0u, 0, 0}});
    check<u32>("or.b32", {{12, 10, 14}, {0, 0, 0}});
    check<u32>("xor.b32", {{12, 10, 6}, {7, 7, 0}});
    check<u64>("and.b64", {{3ULL << 40, 1ULL << 40, 1ULL << 40}});
    check<u64>("or.b64", {{1ULL << 40, 1, (1ULL << 40) + 1}});
    check<u64>("xor.b64", {{3ULL << 40, 1ULL << 40, 1ULL << 41}});
    check<u32>("min.u32", {{top, 1, 1}, {1, top, 1}, {4, 4, 4}, {0, ~0u, 0}});
    check<u32>("max.u32", {{top, 1, top}, {1, top, top}, {4, 4, 4}, {0, ~0u, ~0u}});
    check<s32>("min.s32", {{INT32_MIN, 1, INT32_MIN}, {1, -1, -1}, {4, 4, 4}});
    check<s32>("max.s32", {{INT32_MIN, 1, 1}, {1, -1, 1}, {4, 4, 4}});
    check<u64>("min.u64", {{1ULL << 63, 1, 1}});
    check<u64>("max.u64", {{1ULL << 63, 1, 1ULL << 63}});
    check<s64>("min.s64", {{INT64_MIN, 1, INT64_MIN}});
    check<s64>("max.s64", {{INT64_MIN, 1, 1}});
    check<u32>("exch.b32", {{1, 2, 2}});
    check<u64>("exch.b64", {{1, 1ULL << 50, 1ULL << 50}});
}

TEST_CASE("atomicInc wraps behind its limit, atomicDec to it") {
    check<u32>(
        "inc.u32",
        {{0, 3, 1}, {2, 3, 3}, {3, 3, 0}, {4, 3, 0}, {~0u, 3, 0}, {0, 0, 0}, {top, ~0u, top + 1}, {~0u, ~0u, 0}});
    check<u32>("dec.u32", {{3, 3, 2},
                           {1, 3, 0},
                           {0, 3, 3},
                           {4, 3, 3},
                           {~0u, 3, 3},
                           {0, 0, 0},
                           {1, 0, 0},
                           {top, ~0u, top - 1},
                           {~0u, ~0u, ~0u - 1}});
}

TEST_CASE("compare and swap changes what compares equal, in all its bits") {
    const auto check_cas = [](const std::string& type, auto old, auto compare, auto value) {
        using T = decltype(old);
        for (const Where where : everywhere) {
            CAPTURE(type, where);
            const auto done = perform<T>(where, "cas." + type, {old, old}, {compare, old}, {value, value}, false, true);
            CHECK(done.now == std::vector<T>{old, value});
            CHECK(done.before == std::vector<T>{old, old});
        }
    };
    check_cas("b16", u16{0x8001}, u16{1}, u16{7});
    check_cas("b32", u32{top + 1}, u32{1}, u32{7});
    check_cas("b64", u64{1} << 63, u64{0}, u64{7});
    check_cas("b128", Wide{1, 2}, Wide{1, 3}, Wide{5, 6});
    check_cas("b128", Wide{1, 2}, Wide{0, 2}, Wide{5, 6});
    for (const Where where : everywhere) {
        const auto done = perform<Wide>(where, "exch.b128", {{1, 2}}, {{3, 4}}, {{3, 4}}, false, false);
        CHECK((done.now == std::vector<Wide>{{3, 4}} && done.before == std::vector<Wide>{{1, 2}}));
    }
}

// As recorded on an H100: the units beside L2 flush subnormal floats, those of shared memory do not.
TEST_CASE("atomic floats flush beside L2, and only there") {
    const float tiny = std::numeric_limits<float>::denorm_min();
    for (const Where where : everywhere) {
        const bool flushes = where == Where::global || where == Where::generic_global;
        CAPTURE(where);
        const auto done = perform<float>(where, "add.f32", {tiny, 0x1p-126f, 1.5f, 1}, {tiny, -0x1p-127f, 2, 0x1p-24f},
                                         {0, 0, 0, 0}, false, false);
        CHECK(done.now ==
              (flushes ? std::vector<float>{0, 0x1p-126f, 3.5f, 1} : std::vector<float>{2 * tiny, 0x1p-127f, 3.5f, 1}));
        CHECK(done.before == std::vector<float>{tiny, 0x1p-126f, 1.5f, 1});
        const auto none =
            perform<u32>(where, "add.f32", {0xffc12345u, 0x7f800000u}, {0, 0xff800000u}, {0, 0}, false, false);
        CHECK(none.now == std::vector<u32>{0x7fffffffu, 0x7fffffffu});
        CHECK(perform<double>(where, "add.f64", {5e-324, 1}, {5e-324, 2}, {0, 0}, false, false).now ==
              std::vector<double>{1e-323, 3});
        CHECK(perform<u64>(where, "add.f64", {0x7ff8000000001234u}, {0x3ff0000000000000u}, {0}, true, false).now ==
              std::vector<u64>{0x7ff8000000001234u});
    }
}

TEST_CASE("atomic halves add each half by itself") {
    for (const Where where : everywhere) {
        CAPTURE(where);
        // 1 + 2, 0.5 + 0.5; 65504 + 65504 overflows only its own half.
        CHECK(perform<u16>(where, "add.noftz.f16", {0x3c00}, {0x4000}, {0}, false, false).now ==
              std::vector<u16>{0x4200});
        CHECK(perform<u16>(where, "add.noftz.bf16", {0x3f80}, {0x4000}, {0}, false, false).now ==
              std::vector<u16>{0x4040});
        CHECK(perform<u32>(where, "add.noftz.f16x2", {0x38003c00, 0x3c007bff}, {0x38004000, 0x3c007bff}, {0, 0}, true,
                           false)
                  .now == std::vector<u32>{0x3c004200, 0x40007c00});
        CHECK(perform<u32>(where, "add.noftz.bf16x2", {0x3f803f80}, {0x40003f80}, {0}, false, false).now ==
              std::vector<u32>{0x40404000});
    }
}

TEST_CASE("lanes that meet at one place take turns, in lane order") {
    Machine m(1, R"(
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 sum, .param .u64 before) {
    .reg .b32 %i, %v;
    .reg .b64 %s, %b;
    mov.u32 %i, %tid.x;
    ld.param.u64 %s, [sum];
    ld.param.u64 %b, [before];
    mad.wide.u32 %b, %i, 4, %b;
    atom.global.add.u32 %v, [%s], %i;
    st.global.u32 [%b], %v;
    ret;
})");
    const auto sum = m.upload(std::vector<u32>{1000}), before = m.upload(std::vector<u32>(40));
    const auto c = m.launch("k", {1}, {40}, sum, before).counters;
    std::vector<u32> expected(40, 1000);
    for (u32 i = 1; i < 40; ++i) expected[i] = expected[i - 1] + i - 1;
    CHECK(m.download(before) == expected);
    CHECK(m.download(sum)[0] == 1000 + 40 * 39 / 2);
    CHECK(c.atomic_requests == 2);
    CHECK(c.atomic_sectors == 2);
}

TEST_CASE("vectors are added element by element, and the old ones given back") {
    const std::string head =
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 sum, .param "
        ".u64 before) {\n.reg .f32 %f<8>;\n.reg .b64 %s, %b;\nld.param.u64 %s, [sum];\n"
        "ld.param.u64 %b, [before];\nld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%b];\n";
    const std::vector<float> old{1, 2, 3, 4}, addends{10, 20, 30, 40};
    const auto run = [&](const std::string& body) {
        Machine m(1, head + body + "ret;\n}\n");
        const auto sum = m.upload(old), before = m.upload(addends);
        m.launch("k", {1}, {1}, sum, before);
        return std::pair(m.download(sum), m.download(before));
    };
    // The results may use the places of the addends.
    CHECK(run("atom.global.add.v4.f32 {%f3, %f2, %f1, %f0}, [%s], {%f0, %f1, %f2, %f3};\n"
              "st.global.v4.f32 [%b], {%f3, %f2, %f1, %f0};\n") == std::pair(std::vector<float>{11, 22, 33, 44}, old));
    CHECK(run("atom.global.add.v2.f32 {%f4, %f5}, [%s], {%f2, %f3};\nst.global.v2.f32 [%b], {%f4, %f5};\n") ==
          std::pair(std::vector<float>{31, 42, 3, 4}, std::vector<float>{1, 2, 30, 40}));
    CHECK(run("red.global.add.v4.f32 [%s], {%f0, %f1, %f2, %f3};\n").first == std::vector<float>{11, 22, 33, 44});
    CHECK(run("red.global.add.v2.f32 [%s], {%f0, %f1};\n").first == std::vector<float>{11, 22, 3, 4});
}

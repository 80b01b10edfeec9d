// Loads and stores of every type through registers of every width, in every space: what is extended and what is cut.

#include "judge/catch.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using u64 = std::uint64_t;

namespace {

struct Type {
    const char* name;
    unsigned bits;
    bool is_signed;
};
constexpr Type types[] = {{"u8", 8, false},   {"s8", 8, true},    {"b8", 8, false},   {"u16", 16, false},
                          {"s16", 16, true},  {"b16", 16, false}, {"u32", 32, false}, {"s32", 32, true},
                          {"b32", 32, false}, {"f32", 32, false}, {"u64", 64, false}, {"s64", 64, true},
                          {"b64", 64, false}, {"f64", 64, false}};

u64 cut(u64 value, unsigned bits) { return bits == 64 ? value : value & ((u64{1} << bits) - 1); }
u64 extended(u64 value, const Type& type, unsigned width) {
    value = cut(value, type.bits);
    if (type.is_signed && (value >> (type.bits - 1) & 1)) value |= ~cut(~u64{0}, type.bits);
    return cut(value, width);
}

// Each of 40 threads moves its words through memory of the space: 8 · n bytes of it, after `before`.
std::vector<u64> run(const std::string& space, unsigned n, const std::string& before, const std::string& body,
                     const std::vector<u64>& in) {
    std::string ptx =
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 room, "
        ".param .u64 out) {\n.shared .align 16 .b8 shared_room[2048];\n.local .align 16 .b8 local_room[64];\n"
        ".reg .b16 %h<4>;\n.reg .b32 %i, %w<4>;\n.reg .b64 %d<4>, %in, %out, %p, %x;\n.reg .pred %off;\n"
        "mov.u32 %i, %tid.x;\n";
    ptx += "ld.param.u64 %in, [in]; mad.wide.u32 %in, %i, 8, %in; ld.param.u64 %out, [out]; mad.wide.u32 %out, %i, " +
           std::to_string(8 * n) + ", %out;\n";
    const std::string stride = std::to_string(8 * n);
    if (space == "global" || space == "")
        ptx += "ld.param.u64 %p, [room]; mad.wide.u32 %p, %i, " + stride + ", %p;\n";
    else if (space == "shared")
        ptx += "mov.u64 %p, shared_room; mad.wide.u32 %p, %i, " + stride + ", %p;\n";
    else
        ptx += "mov.u64 %p, local_room;\n";
    Machine m(1, ptx + before + body + "ret;\n}\n");
    const auto out = m.upload(std::vector<u64>(40 * n));
    m.launch("k", {1}, {40}, m.upload(in), m.upload(std::vector<u64>(40 * n)), out);
    return m.download(out);
}

std::vector<u64> sharp() {
    std::vector<u64> values;
    for (u64 i = 0; i < 40; ++i)
        values.push_back(i % 3 == 0 ? 0x8080808080808080u + i : i % 3 == 1 ? 0x7f7f7f7f7f7f7f7fu - i : i << 31);
    return values;
}

const char* reg(unsigned width) { return width == 16 ? "%h0" : width == 32 ? "%w0" : "%d0"; }
std::string dot(const std::string& space) { return space.empty() ? "" : "." + space; }

}  // namespace

TEST_CASE("loads extend by their type's sign, stores keep the low bits") {
    const auto in = sharp();
    for (const std::string space : {"global", "shared", "local", ""}) {
        for (const Type& type : types) {
            for (const unsigned width : {16u, 32u, 64u}) {
                if (width < type.bits) continue;
                CAPTURE(space, type.name, width);
                const std::string r = reg(width), all = "st" + dot(space) + ".u64 [%p], %x;\n";
                const std::string to_64 = width == 64 ? "mov.b64 %x, " + r + ";\n"
                                                      : "cvt.u64.u" + std::to_string(width) + " %x, " + r + ";\n";
                const std::string from_64 = width == 64 ? "mov.b64 " + r + ", %x;\n"
                                                        : "cvt.u" + std::to_string(width) + ".u64 " + r + ", %x;\n";
                std::vector<u64> loaded, stored;
                for (const u64 v : in) {
                    loaded.push_back(extended(v, type, width));
                    stored.push_back(cut(v, type.bits) | (0x1111111111111111u & ~cut(~u64{0}, type.bits)));
                }
                CHECK(run(space, 1, "ld.global.u64 %x, [%in];\n" + all,
                          "ld" + dot(space) + "." + type.name + " " + r + ", [%p];\n" + to_64 +
                              "st.global.u64 [%out], %x;\n",
                          in) == loaded);
                CHECK(run(space, 1, "mov.u64 %x, 0x1111111111111111;\n" + all,
                          "ld.global.u64 %x, [%in];\n" + from_64 + "st" + dot(space) + "." + type.name + " [%p], " + r +
                              ";\nld" + dot(space) + ".u64 %x, [%p];\nst.global.u64 [%out], %x;\n",
                          in) == stored);
            }
        }
    }
}

TEST_CASE("vectors move their elements in order, for the lanes that take part") {
    const auto in = sharp();
    for (const std::string space : {"global", "shared", "local", ""}) {
        for (const unsigned n : {2u, 4u}) {
            CAPTURE(space, n);
            std::string list, fill;
            for (unsigned i = 0; i < n; ++i) {
                list += (i ? ", %w" : "%w") + std::to_string(i);
                fill += "add.u32 %w" + std::to_string(i) + ", %w0, " + std::to_string(i) + ";\n";
            }
            // Odd threads store nothing, and load nothing into registers that hold 7.
            const std::string v = ".v" + std::to_string(n) + ".u32 ";
            std::string body = "ld.global.u32 %w0, [%in];\n" + fill +
                               "and.b32 %i, %i, 1; setp.ne.u32 %off, %i, 0;\n@!%off st" + dot(space) + v + "[%p], {" +
                               list + "};\n";
            for (unsigned i = 0; i < n; ++i) body += "mov.u32 %w" + std::to_string(i) + ", 7;\n";
            body += "@!%off ld" + dot(space) + v + "{" + list + "}, [%p];\n";
            for (unsigned i = 0; i < n; ++i)
                body += "st.global.u32 [%out+" + std::to_string(4 * i) + "], %w" + std::to_string(i) + ";\n";
            const auto out = run(space, n, "", body, in);
            std::vector<std::uint32_t> words(out.size() * 2), expected(words.size());
            std::memcpy(words.data(), out.data(), 8 * out.size());
            for (unsigned t = 0; t < 40; ++t)
                for (unsigned i = 0; i < n; ++i)
                    expected[std::size_t{2 * n} * t + i] = t % 2 ? 7 : static_cast<std::uint32_t>(in[t]) + i;
            CHECK(words == expected);
        }
    }
}

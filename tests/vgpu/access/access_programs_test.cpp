// Random programs of loads and stores, and the same lane by lane: the same memory and the same counts, whichever way an
// access takes. Addresses are of many shapes, change or stay, and are used again with other offsets and by fewer lanes.
#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "judge/catch.hpp"
#include "vgpu/access/access.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::warp_size;
using u32 = std::uint32_t;

namespace {

constexpr u32 words = 4096, shapes = 96, turns = 3, fresh_word = 0xCDCDCDCD;
constexpr unsigned registers = 3;  // with addresses of global memory; as many of shared memory

struct Counts {
    u32 loads = 0, stores = 0;  // requests
    u32 load_units = 0, store_units = 0;
};

class Program {
  public:
    explicit Program(unsigned seed) : random_(seed), lanes_(pick(3) ? warp_size : 1 + pick(warp_size)) {
        for (u32 s = 0; s < shapes; ++s) add_shape();
        for (unsigned r = 0; r < 2 * registers; ++r) add_reload(r);
        for (unsigned i = 0; i < 40; ++i) add_step();
    }

    [[nodiscard]] std::string ptx() const {
        std::string text =
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry program(.param .u64 memory, .param .u64 "
            "table) {\n.shared .align 4 .b8 s[16384];\n.reg .b32 %s<3>, %v, %acc, %lane, %turn, %base, %x;\n"
            ".reg .b64 %g<3>, %memory, %table, %at, %wide;\n.reg .pred %p;\n"
            "ld.param.u64 %memory, [memory];\nld.param.u64 %table, [table];\nmov.u32 %lane, %tid.x;\n"
            "mov.u32 %base, s;\nmul.wide.u32 %wide, %lane, 4;\nadd.u64 %at, %table, %wide;\nmov.u32 %acc, %lane;\n"
            "mov.u32 %turn, 0;\nTURN:\n";
        for (const Step& s : steps_) text += s.text;
        return text + "add.u32 %turn, %turn, 1;\nsetp.lt.u32 %p, %turn, 3;\n@%p bra TURN;\nret;\n}\n";
    }
    [[nodiscard]] u32 lanes() const { return lanes_; }
    [[nodiscard]] const std::vector<u32>& table() const { return table_; }

    // Runs it lane by lane.
    void run(std::vector<u32>& memory, Counts& global, Counts& shared) const {
        std::vector<u32> own(words, fresh_word), acc(lanes_), at(2 * registers * warp_size);
        for (u32 l = 0; l < lanes_; ++l) acc[l] = l;
        for (u32 turn = 0; turn < turns; ++turn)
            for (const Step& s : steps_) {
                u32* const address = at.data() + s.reg * warp_size;
                const bool is_shared = s.reg >= registers;
                std::vector<u32>& data = is_shared ? own : memory;
                std::set<u32> sectors, seen;
                std::vector<u32> of_bank(32);
                for (u32 l = 0; l < lanes_; ++l) {
                    if (s.kind == Kind::Reload) address[l] = table_[s.value * warp_size + l];
                    if (s.kind == Kind::Move) address[l] += s.value;
                    if (s.kind != Kind::Load && s.kind != Kind::Store) continue;
                    const u32 word = address[l] / 4 + s.value;
                    sectors.insert(word / 8);
                    if (seen.insert(word).second) ++of_bank[word % 32];
                    if (s.kind == Kind::Load)
                        acc[l] = acc[l] * 31 + data[word];
                    else
                        data[word] = acc[l];
                }
                if (s.kind == Kind::Reload) ++global.loads, global.load_units += (lanes_ + 7) / 8;
                Counts& counts = is_shared ? shared : global;
                const u32 units = is_shared ? std::ranges::max(of_bank) : static_cast<u32>(sectors.size());
                if (s.kind == Kind::Load) ++counts.loads, counts.load_units += units;
                if (s.kind == Kind::Store) ++counts.stores, counts.store_units += units;
            }
    }

  private:
    enum class Kind : std::uint8_t { Load, Store, Move, Reload };
    struct Step {
        Kind kind;
        unsigned reg;
        u32 value;  // Load, Store: words beyond the address; Move: bytes; Reload: the shape
        std::string text;
    };

    u32 pick(u32 below) { return static_cast<u32>(random_() % below); }

    // The byte offsets of 32 lanes, far from both ends of the memory.
    void add_shape() {
        const u32 base = 512 + pick(1024), kind = pick(6), stride = kind == 1 ? 1 : pick(40);
        for (u32 l = 0; l < warp_size; ++l) {
            const u32 word = kind == 0   ? 0
                             : kind <= 2 ? l * stride
                             : kind == 3 ? l / 16 * 256 + l % 16  // two rows
                             : kind == 4 ? l / 16                 // two words
                                         : pick(1500);
            table_.push_back(4 * (base + word));
        }
    }
    void add_reload(unsigned reg) {
        const u32 shape = pick(shapes);
        const std::string r = std::to_string(reg % registers),
                          load = "ld.global.u32 %x, [%at+" + std::to_string(shape * warp_size * 4) + "];\n";
        steps_.push_back({Kind::Reload, reg, shape,
                          load + (reg < registers ? "cvt.u64.u32 %wide, %x;\nadd.u64 %g" + r + ", %memory, %wide;\n"
                                                  : "add.u32 %s" + r + ", %base, %x;\n")});
    }
    void add_step() {
        const unsigned reg = pick(2 * registers), kind = pick(8);
        if (kind == 7) return add_reload(reg);
        const bool is_shared = reg >= registers;
        const std::string name = (is_shared ? "%s" : "%g") + std::to_string(reg % registers);
        if (kind == 6) {
            const u32 bytes = 4 * (1 + pick(8));
            steps_.push_back({Kind::Move, reg, bytes,
                              std::string(is_shared ? "add.u32 " : "add.u64 ") + name + ", " + name + ", " +
                                  std::to_string(bytes) + ";\n"});
            return;
        }
        const u32 beyond = pick(20);
        const std::string space = is_shared ? "shared" : "global",
                          place = "[" + name + "+" + std::to_string(4 * beyond) + "]";
        if (kind < 4)
            steps_.push_back(
                {Kind::Load, reg, beyond, "ld." + space + ".u32 %v, " + place + ";\nmad.lo.u32 %acc, %acc, 31, %v;\n"});
        else
            steps_.push_back({Kind::Store, reg, beyond, "st." + space + ".u32 " + place + ", %acc;\n"});
    }

    std::mt19937 random_;
    u32 lanes_;
    std::vector<u32> table_;
    std::vector<Step> steps_;
};

}  // namespace

TEST_CASE("random loads and stores move and count what their lanes do one by one") {
    constexpr device::Checks none{false, false, false, false};
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        const Program program(seed);
        std::vector<u32> expected(words);
        for (u32 i = 0; i < words; ++i) expected[i] = i * 0x9E3779B1u;
        vgpu::test::Machine m(1, program.ptx(), 1'000'000, "h100", none);
        const auto memory = m.upload(expected), table = m.upload(program.table());
        const auto done = m.launch("program", {1}, {program.lanes()}, memory, table).counters;
        Counts global, shared;
        program.run(expected, global, shared);
        REQUIRE(m.download(memory) == expected);
        CHECK((done.global_load_requests == global.loads && done.global_load_sectors == global.load_units));
        CHECK((done.global_store_requests == global.stores && done.global_store_sectors == global.store_units));
        CHECK((done.shared_load_requests == shared.loads && done.shared_load_wavefronts == shared.load_units));
        CHECK((done.shared_store_requests == shared.stores && done.shared_store_wavefronts == shared.store_units));
    }
}

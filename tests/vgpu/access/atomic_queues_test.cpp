// What lanes cost that meet at one word, compared with Nsight Compute's counts on an H100 (tests/model/h100.md) of one
// request: `lts__d_atomic_input_cycles_active` and `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom`.
#include "vgpu/access/atomic_queues.hpp"

#include <functional>

#include "judge/catch.hpp"

using namespace warpgrade::vgpu;

namespace {

constexpr std::uint64_t base = 1 << 20;

Access lanes_at(const std::function<std::uint64_t(unsigned)>& offset, unsigned bytes = 4, std::uint32_t mask = ~0u) {
    std::uint64_t addresses[warp_size];
    for (unsigned l = 0; l < warp_size; ++l) addresses[l] = base + offset(l);
    Access x;
    x.collect(addresses, 0, mask, bytes);
    return x;
}

// `distinct` words, `stride` bytes apart.
Access words(unsigned distinct, unsigned stride, unsigned bytes = 4) {
    return lanes_at([=](unsigned l) { return std::uint64_t{l % distinct} * stride; }, bytes);
}

AtomicQueues::Cost cost(const Access& x, unsigned bytes = 4) { return AtomicQueues().add(x, bytes, false, false); }

// Of the busiest slice, after some requests.
std::uint64_t busiest(unsigned requests, bool chained, const std::function<Access(unsigned)>& access) {
    AtomicQueues queues;
    for (unsigned i = 0; i < requests; ++i) queues.add(access(i), 4, false, chained);
    return queues.busiest_cycles();
}

}  // namespace

TEST_CASE("L2 takes a cycle for each lane of a sector's busiest word") {
    struct Row {
        unsigned distinct, cycles;
    };
    for (const Row& row : {Row{1, 32}, {2, 16}, {4, 8}, {8, 4}, {16, 4}, {32, 4}}) {
        CAPTURE(row.distinct);
        CHECK(cost(words(row.distinct, 4)).cycles == row.cycles);
        CHECK(cost(words(row.distinct, 4)).sectors == (row.distinct + 7) / 8);
    }
    CHECK(cost(words(32, 32)).cycles == 32);
    CHECK(cost(words(2, 128)).cycles == 32);
    for (const Row& row : {Row{4, 8}, {8, 8}, {16, 8}}) CHECK(cost(words(row.distinct, 8, 8), 8).cycles == row.cycles);
    // Lanes that take no part do not count.
    CHECK(cost(lanes_at([](unsigned) { return 0; }, 4, 0xff)).cycles == 8);
    CHECK(cost(lanes_at([](unsigned l) { return l < 4 ? 0 : 4; }, 4, 0x3f)).cycles == 4);
}

TEST_CASE("one lane that acts for the warp takes one cycle") {
    AtomicQueues queues;
    const auto combined = queues.add(words(1, 4), 4, true, true);
    CHECK((combined.sectors == 1 && combined.cycles == 1));
    CHECK(queues.busiest_cycles() == 1);
}

TEST_CASE("what meets in one slice of L2 adds up, and slices work side by side") {
    CHECK(AtomicQueues().busiest_cycles() == 0);
    CHECK(busiest(10, false, [](unsigned) { return words(1, 4); }) == 320);
    CHECK(busiest(10, false, [](unsigned) { return words(2, 128); }) == 320);  // 512 bytes in a row are in one slice
    CHECK(busiest(10, false, [](unsigned) { return words(8, 128); }) == 160);
    CHECK(busiest(10, false, [](unsigned) { return words(32, 128); }) == 40);
    // Each request has a word of its own, far from the others.
    const auto apart = [](unsigned i) { return lanes_at([=](unsigned) { return std::uint64_t{i} * 512; }); };
    CHECK(busiest(64, false, apart) <= 3 * 32);
}

TEST_CASE("an addition of floats waits for the one before on the same word") {
    const auto one = [](unsigned) { return words(1, 4); };
    CHECK(busiest(1, true, one) == (10 + 31 * 24) / 10);
    CHECK(busiest(10, true, one) == (10 + 319 * 24) / 10);
    CHECK(busiest(10, true, [](unsigned) { return words(32, 4); }) ==
          busiest(10, false, [](unsigned) { return words(32, 4); }));
}

TEST_CASE("lanes on a bank of shared memory take a wavefront each, on one word only for its old value") {
    struct Row {
        unsigned distinct, stride, without, with_old;
    };
    for (const Row& row : {Row{1, 4, 1, 32},
                           {2, 4, 1, 16},
                           {4, 4, 1, 8},
                           {16, 4, 1, 2},
                           {32, 4, 1, 1},
                           {2, 128, 2, 32},
                           {8, 128, 8, 32},
                           {32, 128, 32, 32}}) {
        CAPTURE(row.distinct, row.stride);
        const Access x = words(row.distinct, row.stride);
        CHECK(shared_atomic_wavefronts(x, 4, {.needs_old = false}) == row.without);
        CHECK(shared_atomic_wavefronts(x, 4, {}) == row.with_old);
        CHECK(shared_atomic_wavefronts(x, 4, {.adds_floats = true}) == 12 * row.with_old);
        for (const bool old : {true, false})
            CHECK(shared_atomic_wavefronts(x, 4, {.needs_old = old, .swaps = true}) == 2 * row.with_old);
    }
    CHECK(shared_atomic_wavefronts(lanes_at([](unsigned) { return 0; }, 4, 0xf), 4, {}) == 4);
    CHECK(shared_atomic_wavefronts(words(1, 4), 4, {.combined = true}) == 1);
    CHECK(shared_atomic_wavefronts(words(2, 4), 4, {.combined = true}) == 16);  // lanes are not on one word
}

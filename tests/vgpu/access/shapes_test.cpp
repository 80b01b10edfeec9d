// A memory instruction whose lanes' shapes repeat, change, and repeat elsewhere: what is remembered of a shape must
// never show in results, counters or messages.
#include <algorithm>
#include <random>
#include <set>

#include "support/contains.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

constexpr int elements = 512, rounds = 600;

// The element that each lane accesses, and the active lanes, for each round.
struct Accesses {
    std::vector<int> at;
    std::vector<unsigned> active;
};

Accesses accesses(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
    std::vector<std::vector<int>> shapes;
    const auto add = [&](auto&& f) {
        std::vector<int> s;
        for (int l = 0; l < 32; ++l) s.push_back(f(l));
        shapes.push_back(s);
    };
    add([](int l) { return l; });
    add([](int) { return 0; });
    add([](int l) { return 31 - l; });
    add([](int l) { return l % 16; });
    add([](int l) { return l / 16 * 100; });
    add([](int l) { return l % 8 + l / 8 * 24; });
    add([](int l) { return l * 2; });
    add([](int l) { return l * 8; });
    add([](int l) { return l ^ 5; });
    add([](int l) { return l / 8 * 60 + (7 - l % 8); });
    for (const int other : {5, 13, 21, 29}) add([=](int l) { return l == other ? 200 : l; });  // almost in a row
    for (int i = 0; i < 4; ++i) add([&](int) { return below(256); });
    const unsigned masks[] = {~0u, ~0u, ~0u, 0xffffu, 0xffff0000u, 1u, 0x80000000u, 0x00ffff00u, 0x13579bdfu};
    Accesses a;
    for (int r = 0; r < rounds; ++r) {
        // Sometimes the same shape as in the round before, at another place.
        static int shape = 0, mask = 0;
        if (below(3) == 0) shape = below(static_cast<unsigned>(shapes.size()));
        if (below(4) == 0) mask = below(std::size(masks));
        const auto& s = shapes[static_cast<std::size_t>(shape)];
        const int room = elements - *std::max_element(s.begin(), s.end());
        const int base = below(8) == 0 ? room - 1 : below(static_cast<unsigned>(room));  // also at the very end
        for (int l = 0; l < 32; ++l) a.at.push_back(base + s[static_cast<std::size_t>(l)]);
        a.active.push_back(masks[mask]);
    }
    return a;
}

template <class F>
void for_each_active(const Accesses& a, int round, F&& f) {
    for (unsigned l = 0; l < 32; ++l)
        if (a.active[static_cast<std::size_t>(round)] >> l & 1)
            f(static_cast<std::size_t>(round) * 32 + l,
              static_cast<std::size_t>(a.at[static_cast<std::size_t>(round) * 32 + l]));
}

std::uint64_t sectors(const Accesses& a, std::size_t bytes) {
    std::uint64_t total = 0;
    for (int r = 0; r < rounds; ++r) {
        std::set<std::size_t> touched;
        for_each_active(a, r, [&](std::size_t, std::size_t at) { touched.insert(at * bytes / 32); });
        total += touched.size();
    }
    return total;
}

// Wavefronts of accesses of at most four bytes: the largest number of words that one bank has to deliver.
std::uint64_t wavefronts(const Accesses& a, std::size_t bytes) {
    std::uint64_t total = 0;
    for (int r = 0; r < rounds; ++r) {
        std::set<std::size_t> banks[32];
        std::size_t most = 0;
        for_each_active(a, r, [&](std::size_t, std::size_t at) {
            auto& bank = banks[at * bytes / 4 % 32];
            bank.insert(at * bytes / 4);
            most = std::max(most, bank.size());
        });
        total += most;
    }
    return total;
}

struct Four {
    float x, y, z, w;
};
template <class T>
T element(int i) {
    if constexpr (std::is_same_v<T, Four>)
        return {static_cast<float>(i), static_cast<float>(i % 7), static_cast<float>(i % 5), static_cast<float>(i % 3)};
    else
        return static_cast<T>(i * 37 % 251);
}
float value(const Four& v) { return v.x + 2 * v.y + 3 * v.z + 4 * v.w; }
template <class T>
float value(T v) {
    return static_cast<float>(v);
}

Machine machine(unsigned threads = 1) { return Machine(threads, vgpu::test::read_text(WG_SHAPE_KERNELS)); }

template <class T>
void check_loads(const std::string& name) {
    CAPTURE(name);
    std::vector<T> in;
    for (int i = 0; i < elements; ++i) in.push_back(element<T>(i));
    for (const unsigned seed : {1u, 2u}) {
        const Accesses a = accesses(seed);
        std::vector<float> expected(rounds * 32, -1);
        for (int r = 0; r < rounds; ++r)
            for_each_active(a, r, [&](std::size_t i, std::size_t at) { expected[i] = value(in[at]); });
        Machine m = machine();
        const auto d_in = m.upload(in);
        const auto at = m.upload(a.at);
        const auto on = m.upload(a.active);
        const auto out = m.upload(std::vector<float>(expected.size()));
        const auto global = m.launch("load_global_" + name, {1}, {32}, d_in, at, on, out, rounds).counters;
        CHECK(m.download(out) == expected);
        // Besides the loads under test: `at` where active (4 sectors), and one word of `on` per round.
        std::uint64_t of_indices = 0;
        for (int r = 0; r < rounds; ++r) {
            std::set<std::size_t> touched;
            for_each_active(a, r, [&](std::size_t i, std::size_t) { touched.insert(i / 8); });
            of_indices += touched.size();
        }
        CHECK(global.global_load_sectors == sectors(a, sizeof(T)) + of_indices + rounds);
        const auto shared = m.launch("load_shared_" + name, {1}, {32}, d_in, at, on, out, rounds).counters;
        CHECK(m.download(out) == expected);
        if (sizeof(T) <= 4) CHECK(shared.shared_load_wavefronts == wavefronts(a, sizeof(T)));
    }
}

}  // namespace

TEST_CASE("shapes of loads that come again") {
    check_loads<unsigned char>("bytes");
    check_loads<short>("shorts");
    check_loads<float>("floats");
    check_loads<double>("doubles");
    check_loads<Four>("vectors");
}

TEST_CASE("shapes of stores that come again") {
    for (const unsigned threads : {1u, 2u}) {
        const Accesses a = accesses(3);
        std::vector<float> floats(elements, -1);
        std::vector<unsigned char> bytes(elements, 7);
        for (int r = 0; r < rounds; ++r)
            for_each_active(a, r, [&](std::size_t i, std::size_t at) {
                floats[at] = static_cast<float>(i);
                bytes[at] = static_cast<unsigned char>(i);
            });
        Machine m = machine(threads);
        const auto to_floats = m.upload(std::vector<float>(elements, -1));
        const auto to_bytes = m.upload(std::vector<unsigned char>(elements, 7));
        const auto at = m.upload(a.at);
        const auto on = m.upload(a.active);
        // With two threads, 64 blocks that write the same values are found to conflict and run again serially.
        const std::uint32_t blocks = threads == 1 ? 1 : 64;
        m.may_be_wrong = true;  // of lanes that write to the same place, the last one wins
        const auto r = m.launch("store_global_floats", {blocks}, {32}, to_floats, at, on, rounds).counters;
        CHECK(m.download(to_floats) == floats);
        CHECK(r.global_store_sectors == blocks * sectors(a, 4));
        CHECK(m.launch("store_global_bytes", {blocks}, {32}, to_bytes, at, on, rounds).counters.global_store_sectors ==
              blocks * sectors(a, 1));
        CHECK(m.download(to_bytes) == bytes);
    }
}

TEST_CASE("a shape that was in bounds leaves them") {
    Accesses a;
    for (int r = 0; r < 20; ++r) {
        for (int l = 0; l < 32; ++l) a.at.push_back(r * 26 + l);  // round 19 ends at element 525
        a.active.push_back(~0u);
    }
    Machine m = machine();
    const auto in = m.upload(std::vector<float>(elements, 1));
    const auto at = m.upload(a.at);
    const auto on = m.upload(a.active);
    const auto out = m.upload(std::vector<float>(20 * 32));
    CHECK_THROWS_WITH(
        m.launch("load_global_floats", {1}, {32}, in, at, on, out, 20),
        Contains("reads 4 bytes directly past the end of an allocation of 2,048 bytes") && Contains("thread (18,0,0)"));
}

TEST_CASE("a shape that was in bounds leaves those of shared memory") {
    Accesses a;
    for (int r = 0; r < 20; ++r) {
        for (int l = 0; l < 32; ++l) a.at.push_back(r * 26 + (31 - l));
        a.active.push_back(~0u);
    }
    Machine m = machine();
    const auto in = m.upload(std::vector<float>(elements, 1));
    const auto at = m.upload(a.at);
    const auto on = m.upload(a.active);
    const auto out = m.upload(std::vector<float>(20 * 32));
    CHECK_THROWS_WITH(m.launch("load_shared_floats", {1}, {32}, in, at, on, out, 20),
                      Contains("reads 4 bytes") && Contains("past the end of") && Contains("thread (0,0,0)"));
}

TEST_CASE("the same load from one allocation after the other, and from several at once") {
    Machine m = machine();
    std::vector<vgpu::test::Buffer<float>> arrays;
    std::vector<std::uint64_t> addresses;
    std::vector<int> sizes;
    for (int i = 0; i < 5; ++i) {
        sizes.push_back(i == 4 ? 32 : 1024 * (i + 1));  // whole pages: a window must not reach beyond the last
        std::vector<float> v;
        for (int k = 0; k < sizes.back(); ++k) v.push_back(static_cast<float>(i * 10000 + k));
        arrays.push_back(m.upload(v));
        addresses.push_back(arrays.back().address);
    }
    std::mt19937 random(5);
    std::vector<int> which, at;
    std::vector<float> expected;
    for (int r = 0; r < rounds; ++r) {
        const int array = static_cast<int>(random() % 5), mixed = random() % 4 == 0;
        const bool at_end = random() % 3 == 0;
        const auto size = static_cast<unsigned>(sizes[static_cast<std::size_t>(array)]);
        const int base = at_end ? static_cast<int>(size) - 32 : static_cast<int>(random() % (size - 31));
        for (int l = 0; l < 32; ++l) {
            which.push_back(mixed ? l % 5 : array);
            at.push_back(mixed ? l : base + l);
            expected.push_back(static_cast<float>(which.back() * 10000 + at.back()));
        }
    }
    const auto out = m.upload(std::vector<float>(expected.size()));
    m.launch("load_from", {1}, {32}, m.upload(addresses), m.upload(which), m.upload(at), out, rounds);
    CHECK(m.download(out) == expected);
}

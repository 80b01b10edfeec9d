// Products of matrices by wmma, as nvcc compiles it, against plain loops.
#include <array>
#include <random>

#include "support/contains.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/ops/half.hpp"

using namespace warpgrade;
using vgpu::BF16;
using vgpu::F16;
using vgpu::test::Machine;
using vgpu::test::message_of;
using vgpu::test::read_text;

namespace {

constexpr std::array architectures{"sm_80", "sm_100"};

Machine matrices(const std::string& architecture, unsigned threads = 1) {
    return Machine(threads, read_text(WG_TEST_MATRICES "." + architecture));
}

// Element types as memory holds them.
struct Half {
    std::uint16_t bits;
};
struct Bfloat {
    std::uint16_t bits;
};
void put(Half& to, int v) { to.bits = F16::from_float(static_cast<float>(v)); }
void put(Bfloat& to, int v) { to.bits = BF16::from_float(static_cast<float>(v)); }
template <class T>
void put(T& to, int v) {
    to = static_cast<T>(v);
}
int get(Half v) { return static_cast<int>(F16::to_float(v.bits)); }
template <class T>
int get(T v) {
    return static_cast<int>(v);
}

// Small integers, so that every type holds the products and their sums exactly.
struct Plain {
    int lines, length;
    std::vector<int> values;
    Plain(int l, int n, unsigned seed, int smallest = -9) : lines(l), length(n) {
        std::mt19937 random(seed);
        for (int i = 0; i < l * n; ++i) values.push_back(smallest + static_cast<int>(random() % 19));
    }
    [[nodiscard]] int at(int i, int j) const { return values[static_cast<std::size_t>(i * length + j)]; }
};

std::size_t place(int i, int j, int leading, bool by_columns) {
    return static_cast<std::size_t>(by_columns ? j * leading + i : i * leading + j);
}

constexpr int surplus = 16;  // of leading dimensions

template <class T>
std::vector<T> in_memory(const Plain& m, bool by_columns) {
    const int leading = (by_columns ? m.lines : m.length) + surplus;
    std::vector<T> v(static_cast<std::size_t>(leading * (by_columns ? m.length : m.lines)));
    for (int i = 0; i < m.lines; ++i)
        for (int j = 0; j < m.length; ++j) put(v[place(i, j, leading, by_columns)], m.at(i, j));
    return v;
}

template <class T, class C>
void check_product(const std::string& kernel, int m, int n, int k, bool a_columns, bool b_columns) {
    const int smallest = std::is_unsigned_v<T> ? 0 : -9;
    const Plain a(m, k, 1, smallest), b(k, n, 2, smallest), c(m, n, 3);
    for (const char* architecture : architectures)
        for (const bool c_columns : {false, true}) {
            CAPTURE(kernel, architecture, c_columns);
            Machine gpu = matrices(architecture);
            const auto at = gpu.upload(in_memory<T>(a, a_columns)), bt = gpu.upload(in_memory<T>(b, b_columns));
            const auto ct = gpu.upload(in_memory<C>(c, c_columns)), dt = gpu.upload(in_memory<C>(c, c_columns));
            const int leading = (c_columns ? m : n) + surplus;
            gpu.launch(kernel, {1}, {32}, at, bt, ct, dt, (a_columns ? m : k) + surplus, (b_columns ? k : n) + surplus,
                       leading, int{c_columns});
            const auto d = gpu.download(dt);
            int wrong = 0;
            for (int i = 0; i < m; ++i)
                for (int j = 0; j < n; ++j) {
                    int sum = c.at(i, j);
                    for (int l = 0; l < k; ++l) sum += a.at(i, l) * b.at(l, j);
                    wrong += get(d[place(i, j, leading, c_columns)]) != sum;
                }
            CHECK(wrong == 0);
        }
}

}  // namespace

TEST_CASE("wmma multiplies in every shape, type and layout") {
    check_product<Half, float>("f16_16_rc", 16, 16, 16, false, true);
    check_product<Half, float>("f16_16_cr", 16, 16, 16, true, false);
    check_product<Half, float>("f16_32_rr", 32, 8, 16, false, false);
    check_product<Half, Half>("f16_32_cc", 32, 8, 16, true, true);
    check_product<Half, Half>("f16_8_rc", 8, 32, 16, false, true);
    check_product<Half, float>("f16_8_cr", 8, 32, 16, true, false);
    check_product<Bfloat, float>("bf16_16_rr", 16, 16, 16, false, false);
    check_product<Bfloat, float>("bf16_32_cc", 32, 8, 16, true, true);
    check_product<Bfloat, float>("bf16_8_rc", 8, 32, 16, false, true);
    check_product<float, float>("tf32_rc", 16, 16, 8, false, true);
    check_product<float, float>("tf32_cr", 16, 16, 8, true, false);
    check_product<double, double>("f64_rc", 8, 8, 4, false, true);
    check_product<double, double>("f64_cr", 8, 8, 4, true, false);
    check_product<signed char, int>("s8_16_rc", 16, 16, 16, false, true);
    check_product<unsigned char, int>("u8_16_cr", 16, 16, 16, true, false);
    check_product<signed char, int>("s8_32_rr", 32, 8, 16, false, false);
    check_product<unsigned char, int>("u8_8_rc", 8, 32, 16, false, true);
}

TEST_CASE("a tiled product through shared memory, with arithmetic on fragments") {
    constexpr int n = 48;
    const Plain a(n, n, 4), b(n, n, 5);
    std::vector<Half> a_bits(n * n), b_bits(n * n);
    for (std::size_t i = 0; i < n * n; ++i) {
        put(a_bits[i], a.values[i]);
        put(b_bits[i], b.values[i]);
    }
    for (const char* architecture : architectures)
        for (const unsigned threads : {1u, 2u}) {
            Machine gpu = matrices(architecture, threads);
            const auto at = gpu.upload(a_bits), bt = gpu.upload(b_bits);
            const auto ct = gpu.upload(std::vector<float>(n * n));
            gpu.launch("tiled", {n / 16, n / 16}, {32}, at, bt, ct, n, 0.25f);
            const auto c = gpu.download(ct);
            int wrong = 0;
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j) {
                    int sum = 0;
                    for (int l = 0; l < n; ++l) sum += a.at(i, l) * b.at(l, j);
                    wrong += c[static_cast<std::size_t>(i * n + j)] != static_cast<float>(sum) * 0.5f;
                }
            CHECK(wrong == 0);
        }
}

TEST_CASE("an accumulator's elements lie as in GPUs since Turing") {
    for (const char* architecture : architectures) {
        Machine gpu = matrices(architecture);
        const auto out = gpu.upload(std::vector<int>(256));
        gpu.launch("accumulator_layout", {1}, {32}, out);
        const auto lanes = gpu.download(out);
        int wrong = 0;
        for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < 8; ++i) {
                const int line = lane / 4 + (i & 2 ? 8 : 0), column = lane % 4 * 2 + (i & 1) + (i & 4 ? 8 : 0);
                wrong += lanes[static_cast<std::size_t>(line * 16 + column)] != lane * 100 + i;
            }
        CHECK(wrong == 0);
    }
}

TEST_CASE("a matrix instruction in a part of a warp is a fault") {
    const auto run = [](unsigned threads, int lanes) {
        Machine gpu = matrices("sm_80");
        const auto c = gpu.upload(std::vector<float>(256));
        return message_of([&] { gpu.launch("in_a_part_of_the_warp", {1}, {threads}, c, lanes); },
                          device::error::illegal_instruction);
    };
    CHECK(run(32, 32) == "the launch did not fail");
    CHECK_THAT(run(32, 20), Contains("matrices.cu:"));
    CHECK_THAT(run(32, 20), Contains("needs all 32 threads of the warp together"));
    CHECK_THAT(run(32, 20), Contains("mask 0x000fffff"));
    CHECK_THAT(run(16, 32), Contains("mask 0x0000ffff"));
}

TEST_CASE("wmma's accesses are checked and counted as loads and stores are") {
    const auto run = [](std::size_t elements, std::uint64_t shift, int leading) {
        Machine gpu = matrices("sm_80");
        auto c = gpu.upload(std::vector<float>(elements));
        c.address += shift;
        const std::vector<Half> zeros(16 * 32);
        const auto a = gpu.upload(zeros), b = gpu.upload(zeros);
        return gpu.launch("f16_16_rc", {1}, {32}, a, b, c, c, 16, 16, leading, 0).counters;
    };
    // Words of A and B: eight rows of 16 bytes to a request. Pairs of C and D: eight rows of a sector.
    const auto counters = run(16 * 16, 0, 16);
    CHECK(counters.global_load_requests == 12);
    CHECK(counters.global_load_sectors == 4 * 8 + 4 * 8 + 4 * 8);
    CHECK(counters.global_store_requests == 4);
    CHECK(counters.global_store_sectors == 4 * 8);
    CHECK(counters.global_load_l1_hits == 16 + 16);  // rows of A and B are sectors, which are loaded in halves
    CHECK_THAT(message_of([&] { run(16 * 16 - 1, 0, 16); }, device::error::illegal_address),
               Contains("reads 8 bytes") && Contains("past its end"));
    CHECK_THAT(message_of([&] { run(16 * 16, 0, 17); }, device::error::misaligned_address),
               Contains("which is not a multiple of 8"));
    CHECK_THAT(message_of([&] { run(16 * 16, 1, 16); }, device::error::misaligned_address),
               Contains("which is not a multiple of 8"));
}

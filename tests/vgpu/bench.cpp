// How fast the virtual GPU runs, as a ratio to the same algorithm as plain scalar C++ on one core, in one run:
//   build/dev/bin/bench-vgpu
// `lane_instructions` is thread instructions a second. `ratio` is time on the virtual GPU (counters and bounds checks
// on) over time of the plain loop, `speedup` what two host threads give over one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

constexpr int n = 512;

double seconds(const std::function<void()>& work, int repeats) {
    double best = 1e30;
    for (int i = 0; i < repeats; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

std::vector<float> matrix(unsigned seed) {
    std::vector<float> v(n * n);
    for (float& f : v) f = static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
    return v;
}

// The plain triple loop: -O2 without vectorisation, as a student's first C++ version is compiled.
__attribute__((noinline, optimize("O2,no-tree-vectorize"))) void plain_matmul(const float* a, const float* b,
                                                                              float* c) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

double plain_seconds() {
    static const double once = [] {
        const auto a = matrix(1), b = matrix(2);
        std::vector<float> c(n * n);
        return seconds(
            [&] {
                plain_matmul(a.data(), b.data(), c.data());
                benchmark::DoNotOptimize(c.data());
            },
            5);
    }();
    return once;
}

struct Prepared {
    explicit Prepared(unsigned threads) : m(threads, vgpu::test::read_text(WG_TEST_KERNELS), 0) {
        a = m.upload(matrix(1));
        b = m.upload(matrix(2));
        c = m.upload(std::vector<float>(n * n));
    }
    device::LaunchRecord run(const char* kernel) { return m.launch(kernel, {n / 16, n / 16}, {16, 16}, a, b, c, n); }
    Machine m;
    vgpu::test::Buffer<float> a, b, c;
};

void plain_triple_loop(benchmark::State& state) {
    const auto a = matrix(1), b = matrix(2);
    std::vector<float> c(n * n);
    for (auto _ : state) {
        plain_matmul(a.data(), b.data(), c.data());
        benchmark::DoNotOptimize(c.data());
    }
}
BENCHMARK(plain_triple_loop)->Unit(benchmark::kMillisecond);

void on_virtual_gpu(benchmark::State& state, const char* kernel) {
    const auto threads = static_cast<unsigned>(state.range(0));
    Prepared p(threads);
    std::uint64_t instructions = 0;
    for (auto _ : state) instructions += p.run(kernel).counters.thread_inst_executed;
    state.counters["lane_instructions"] =
        benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
    const double own = seconds([&] { p.run(kernel); }, 3);
    state.counters["ratio"] = own / plain_seconds();
    if (threads > 1) {
        Prepared one(1);
        state.counters["speedup"] = seconds([&] { one.run(kernel); }, 3) / own;
    }
}
BENCHMARK_CAPTURE(on_virtual_gpu, matmul_naive, "matmul_naive")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(on_virtual_gpu, matmul_tiled, "matmul_tiled")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();

// How fast the virtual GPU runs with counters and bounds checks, compared with the same algorithms in plain C++ (-O2)
// on one core in the same run. Then how long a user waits, and the memory used:
//   build/release/bin/bench-vgpu [--only NAME] [--repeats N] [--threads N]
//                                [--speed-only | --checked-speed-only | --scaling]
// The columns: thread instructions of one run; thread instructions per second on one core; time on the virtual GPU and
// in plain C++, and their ratio; speedup with two host threads by the clock, and by the processor time that two idle
// cores would need; slowdown with all checks (only this column has checks). --speed-only stops after the second column,
// to compare two builds or to run under a profiler, on one host thread or with --threads on N (the processor time of
// all of them); --checked-speed-only does the same with all checks. --scaling has other columns: how many times as fast
// 2, 4, 8 … host threads are, up to the machine's cores.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <thread>

#include "plain.hpp"
#include "process.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
namespace plain = vgpu::bench::plain;
using Floats = std::vector<float>;

namespace {

constexpr int n = 512, long_n = 1 << 22, mask_width = 9, gathered = 1 << 18;

Floats noise(std::size_t count, unsigned seed) {
    Floats v(count);
    for (float& f : v) f = static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
    return v;
}

Floats transposed(const Floats& m) {
    Floats t(m.size());
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) t[j * n + i] = m[i * n + j];
    return t;
}

// One algorithm. `prepare` uploads to a machine and returns the function that launches it and gives the thread
// instructions; `plain` does the same work on the CPU. `result` then points to the machine's answer.
struct Prepared {
    std::function<std::uint64_t()> run;
    vgpu::test::Buffer<float> result;
};
struct Case {
    const char* name;
    std::function<Prepared(Machine&)> prepare;
    std::function<Floats()> plain;
};

Prepared square(Machine& m, const char* kernel, device::Dim3 grid, device::Dim3 block, const std::vector<Floats>& in) {
    std::vector<vgpu::test::Buffer<float>> b;
    for (const Floats& f : in) b.push_back(m.upload(f));
    const auto out = m.upload(Floats(n * n));
    const std::string name = kernel;
    return {[=, &m] {
                if (name == "step_v3")
                    return m.launch(name, grid, block, out, b[0], b[1], n).counters.thread_inst_executed;
                if (name == "step_v0") return m.launch(name, grid, block, out, b[0], n).counters.thread_inst_executed;
                return m.launch(name, grid, block, b[0], b[1], out, n).counters.thread_inst_executed;
            },
            out};
}

Prepared reduction(Machine& m, const char* kernel) {
    const auto in = m.upload(noise(long_n, 3));
    const vgpu::test::Buffer<float> partial[2] = {m.upload(Floats(long_n / 256)), m.upload(Floats(long_n / 65536))};
    const auto out = m.upload(Floats(1));
    return {[=, &m] {
                auto from = in;
                std::uint64_t instructions = 0;
                for (const auto& to : {partial[0], partial[1], out}) {
                    const auto r = m.launch(kernel, {static_cast<std::uint32_t>(to.size)}, {256}, from, to,
                                            static_cast<int>(from.size));
                    instructions += r.counters.thread_inst_executed;
                    from = to;
                }
                return instructions;
            },
            out};
}

Prepared convolution(Machine& m) {
    const auto in = m.upload(noise(long_n, 4)), out = m.upload(Floats(long_n));
    const auto mask = noise(mask_width, 5);
    m.gpu->write(m.gpu->find_symbol(m.module, "convolution_mask").address, std::as_bytes(std::span(mask)));
    return {[=, &m] {
                return m.launch("convolution", {long_n / 256}, {256}, in, out, long_n, mask_width)
                    .counters.thread_inst_executed;
            },
            out};
}

// Eight loads for each of `gathered` results, from anywhere in an array of as many elements.
std::vector<int> random_places() {
    std::vector<int> places(8 * gathered);
    unsigned seed = 6;
    for (int& p : places) p = static_cast<int>((seed = seed * 1664525u + 1013904223u) >> 8) % gathered;
    return places;
}

Prepared gather(Machine& m) {
    const auto in = m.upload(noise(gathered, 7)), out = m.upload(Floats(gathered));
    const auto places = m.upload(random_places());
    return {
        [=, &m] {
            return m.launch("gather", {gathered / 256}, {256}, in, places, out, gathered).counters.thread_inst_executed;
        },
        out};
}

std::vector<Case> cases() {
    const auto a = noise(n * n, 1), b = noise(n * n, 2), long_in = noise(long_n, 3), signal = noise(long_n, 4),
               mask = noise(mask_width, 5), columns = transposed(a);
    const auto into = [](std::size_t size, auto&& fill) {
        Floats v(size);
        fill(v.data());
        return v;
    };
    constexpr std::uint32_t tiles = n / 16, big_tiles = n / 64;
    return {
        {"matmul_naive",
         [=](Machine& m) {
             return square(m, "matmul_naive", {tiles, tiles}, {16, 16}, {a, b});
         },
         [=] { return into(n * n, [&](float* c) { plain::matmul_naive(a.data(), b.data(), c, n); }); }},
        {"matmul_tiled",
         [=](Machine& m) {
             return square(m, "matmul_tiled", {tiles, tiles}, {16, 16}, {a, b});
         },
         [=] { return into(n * n, [&](float* c) { plain::matmul_tiled(a.data(), b.data(), c, n); }); }},
        {"step_v0",
         [=](Machine& m) {
             return square(m, "step_v0", {tiles, tiles}, {16, 16}, {a});
         },
         [=] { return into(n * n, [&](float* r) { plain::step_v0(r, a.data(), n); }); }},
        {"step_v3",
         [=](Machine& m) {
             return square(m, "step_v3", {big_tiles, big_tiles}, {8, 8}, {a, columns});
         },
         [=] { return into(n * n, [&](float* r) { plain::step_v3(r, a.data(), columns.data(), n); }); }},
        {"reduce_tree", [](Machine& m) { return reduction(m, "reduce_tree"); },
         [=] { return Floats{plain::reduce_tree(long_in.data(), Floats(long_n / 256).data(), long_n)}; }},
        {"reduce_shuffle", [](Machine& m) { return reduction(m, "reduce_shuffle"); },
         [=] { return Floats{plain::reduce_shuffle(long_in.data(), Floats(long_n / 256).data(), long_n)}; }},
        {"convolution", convolution,
         [=] {
             return into(long_n,
                         [&](float* r) { plain::convolution(signal.data(), r, long_n, mask.data(), mask_width); });
         }},
        {"gather", gather,
         [from = noise(gathered, 7), places = random_places(), into] {
             return into(gathered, [&](float* r) { plain::gather(from.data(), places.data(), r, gathered); });
         }},
    };
}

double wall() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double processor_time(clockid_t whose) {
    timespec t{};
    clock_gettime(whose, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
// Processor time, so that other programs on the machine do not count.
double own_processor() { return processor_time(CLOCK_THREAD_CPUTIME_ID); }
double all_processors() { return processor_time(CLOCK_PROCESS_CPUTIME_ID); }

double best_of(int repeats, double (*clock)(), const std::function<void()>& work) {
    double best = HUGE_VAL;
    for (int i = 0; i < repeats; ++i) {
        const double start = clock();
        work();
        best = std::min(best, clock() - start);
    }
    return best;
}

// Fused multiply-add and plain C++ round differently. A larger difference is a wrong answer, which is not worth timing.
void check_close(const char* name, const Floats& got, const Floats& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (!(std::abs(got[i] - expected[i]) <= 1e-4f * std::abs(expected[i])))
            throw std::runtime_error(fmt::format("{}: element {} is {}, expected {}", name, i, got[i], expected[i]));
}

enum class Columns { all, speed, checked_speed, scaling };

std::vector<unsigned> thread_counts() {
    std::vector<unsigned> counts;
    for (unsigned threads = 2; threads <= std::thread::hardware_concurrency(); threads *= 2) counts.push_back(threads);
    return counts;
}

void measure_scaling(const Case& c, int repeats) {
    const std::string ptx = vgpu::test::read_text(WG_BENCH_KERNELS);
    constexpr device::Checks none{false, false, false, false};
    const auto time_with = [&](unsigned threads) {
        Machine machine(threads, ptx, 0, "h100", none);
        const Prepared prepared = c.prepare(machine);
        return best_of(repeats, wall, [&] { prepared.run(); });
    };
    const double alone = time_with(1);
    fmt::print("{:<16}", c.name);
    for (const unsigned threads : thread_counts()) fmt::print("{:>12.2f}", alone / time_with(threads));
    fmt::print("\n");
    std::fflush(stdout);
}

void print_head(Columns columns) {
    fmt::print("{:<16}", "");
    if (columns == Columns::scaling)
        for (const unsigned threads : thread_counts()) fmt::print("{:>12}", fmt::format("{} threads", threads));
    else
        fmt::print("{:>12}{:>12}{:>12}{:>12}{:>9}{:>12}{:>10}{:>11}", "10^6 instr.", "10^9 i./s", "virtual ms",
                   "plain ms", "ratio", "two threads", "idle", "checks on");
    fmt::print("\n");
}

void measure(const Case& c, int repeats, unsigned threads, Columns columns) {
    if (columns == Columns::scaling) return measure_scaling(c, repeats);
    const std::string ptx = vgpu::test::read_text(WG_BENCH_KERNELS);
    constexpr device::Checks none{false, false, false, false};
    Machine one(threads, ptx, 0, "h100", none), two(2, ptx, 0, "h100", none), checked(threads, ptx, 0);
    const Prepared alone = c.prepare(one), both = c.prepare(two), watched = c.prepare(checked);
    std::uint64_t instructions = 0;
    const Prepared& timed = columns == Columns::checked_speed ? watched : alone;
    const double own = best_of(repeats, all_processors, [&] { instructions = timed.run(); });
    if (columns != Columns::all) {
        fmt::print("{:<16}{:>12.0f}{:>12.3f}\n", c.name, static_cast<double>(instructions) / 1e6,
                   static_cast<double>(instructions) / own / 1e9);
        std::fflush(stdout);
        return;
    }
    Floats expected;
    const double plain_time = best_of(repeats, own_processor, [&] { expected = c.plain(); });
    check_close(c.name, one.download(alone.result), expected);
    double own_wall = HUGE_VAL, both_wall = HUGE_VAL,
           both_processors = HUGE_VAL;  // alternating, since the machine may be busy for a while
    for (int i = 0; i < repeats; ++i) {
        own_wall = std::min(own_wall, best_of(1, wall, [&] { alone.run(); }));
        both_wall = std::min(both_wall, best_of(1, wall, [&] { both.run(); }));
        both_processors = std::min(both_processors, best_of(1, all_processors, [&] { both.run(); }));
    }
    double off = HUGE_VAL, on = HUGE_VAL;
    for (int i = 0; i < repeats; ++i) {
        off = std::min(off, best_of(1, own_processor, [&] { alone.run(); }));
        on = std::min(on, best_of(1, own_processor, [&] { watched.run(); }));
    }
    if (!checked.analysis->take_diagnostics().empty()) throw std::runtime_error("the checks find something");
    if (two.download(both.result) != one.download(alone.result)) throw std::runtime_error("two threads: other results");
    fmt::print("{:<16}{:>12.0f}{:>12.2f}{:>12.1f}{:>12.1f}{:>9.2f}{:>12.2f}{:>10.2f}{:>11.2f}\n", c.name,
               static_cast<double>(instructions) / 1e6, static_cast<double>(instructions) / own / 1e9, own * 1e3,
               plain_time * 1e3, own / plain_time, own_wall / both_wall, 2 * own / both_processors, on / off);
    std::fflush(stdout);
}

void measure_processes(int repeats) {
    double start_up = HUGE_VAL;
    for (int i = 0; i < repeats + 3; ++i)
        start_up = std::min(start_up,
                            vgpu::bench::run_program(WG_DEVICE_SERVER, WG_BENCH_PROGRAM, {}, 2).first_kernel_seconds);
    fmt::print("\nstart-up to the end of the first kernel, processes included: {:.1f} ms\n", start_up * 1e3);
    for (const int each : {128, 256}) {
        const auto r = vgpu::bench::run_program(WG_DEVICE_SERVER, WG_BENCH_PROGRAM, {std::to_string(each)}, 2);
        fmt::print("device server's peak memory for {} MiB of data, changed in place on two threads: {:.0f} MiB\n",
                   2 * each, r.server_peak_bytes / (1 << 20));
    }
}

}  // namespace

int main(int argc, char** argv) try {
    std::string only;
    int repeats = 5;
    unsigned threads = 1;
    Columns columns = Columns::all;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        if (option == "--speed-only")
            columns = Columns::speed;
        else if (option == "--checked-speed-only")
            columns = Columns::checked_speed;
        else if (option == "--scaling")
            columns = Columns::scaling;
        else if (option == "--only" && i + 1 < argc)
            only = argv[++i];
        else if (option == "--repeats" && i + 1 < argc)
            repeats = std::max(1, std::atoi(argv[++i]));
        else if (option == "--threads" && i + 1 < argc)
            threads = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
        else
            throw std::runtime_error(option +
                                     " is no option: [--only NAME] [--repeats N] [--threads N] [--speed-only | "
                                     "--checked-speed-only | --scaling]");
    }
    print_head(columns);
    for (const Case& c : cases())
        if (only.empty() || only == c.name) measure(c, repeats, threads, columns);
    if (only == "processes" || (only.empty() && columns == Columns::all)) measure_processes(repeats);
    return 0;
} catch (const std::exception& failure) {
    fmt::print(stderr, "bench-vgpu: {}\n", failure.what());
    return 1;
}

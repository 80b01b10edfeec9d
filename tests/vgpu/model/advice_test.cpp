// Advice: slow kernels get the right advice on the right line, fast ones get none.
#include <algorithm>
#include <cmath>
#include <map>

#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using device::Diagnostic;
using vgpu::test::Machine;
using vgpu::test::read_text;

namespace {

constexpr int n = 256;

Machine advice(unsigned threads = 1, device::Checks checks = {}) {
    return Machine(threads, read_text(WG_TEST_ADVICE ".sm_80"), 200'000'000, "h100", checks);
}

std::uint32_t place(int number) {
    const std::string source = read_text(WG_TEST_SOURCES "/advice.cu");
    const auto at = source.find("// place " + std::to_string(number) + "\n");
    REQUIRE(at != std::string::npos);
    return static_cast<std::uint32_t>(
        std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1);
}

bool about_occupancy(const Diagnostic& d) { return std::string(d.rule->id) == "advice/occupancy"; }

// Without advice on occupancy: without a cubin, the number of registers is a guess.
std::vector<Diagnostic> only_advice(std::vector<Diagnostic> found) {
    std::erase_if(
        found, [](const Diagnostic& d) { return d.rule->severity != device::Severity::Advice || about_occupancy(d); });
    return found;
}

std::vector<std::string> ids(const std::vector<Diagnostic>& found) {
    std::vector<std::string> result;
    for (const Diagnostic& d : found) result.emplace_back(d.rule->id);
    return result;
}

// The one piece of advice that a launch gets.
void expect_one(const std::vector<Diagnostic>& found, const std::string& id, int at, const std::string& message) {
    REQUIRE(found.size() == 1);
    CHECK(std::string(found[0].rule->id) == id);
    CHECK(found[0].place.line == place(at));
    CHECK_THAT(found[0].message, Contains(message));
    CHECK(found[0].weight > 0);
    CHECK_FALSE(found[0].thread);
}

std::vector<float> floats(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0F); }

std::vector<Diagnostic> of_product(Machine& m, const std::string& kernel) {
    const auto a = m.upload(floats(n * n)), b = m.upload(floats(n * n)), c = m.upload(floats(n * n));
    return only_advice(m.diagnose(kernel, {n / 16, n / 16}, {16, 16}, a, b, c, n));
}
std::vector<Diagnostic> of_transpose(Machine& m, const std::string& kernel, unsigned rows) {
    const auto in = m.upload(floats(1024 * 1024)), out = m.upload(floats(1024 * 1024));
    return only_advice(m.diagnose(kernel, {32, 32}, {32, rows}, in, out, 1024));
}
std::vector<Diagnostic> of_rounds(Machine& m, const std::string& kernel) {
    return only_advice(m.diagnose(kernel, {256}, {256}, m.upload(floats(1 << 16)), 100));
}

}  // namespace

TEST_CASE("uncoalesced accesses: sectors of a request against what its bytes need") {
    Machine m = advice();
    expect_one(of_transpose(m, "transpose_naive", 32), "advice/uncoalesced", 3,
               "each request of 32 threads writes 32 sectors of 32 bytes where 4 would do");
    const auto found = of_product(m, "matmul_rows");
    REQUIRE(found.size() == 2);
    CHECK(found[0].weight >= found[1].weight);  // worst first
    const auto it = std::ranges::find_if(
        found, [](const Diagnostic& d) { return std::string(d.rule->id) == "advice/uncoalesced"; });
    REQUIRE(it != found.end());
    CHECK(it->place.line == place(1));
    CHECK_THAT(it->message, Contains("reads 8.5 sectors of 32 bytes where 4 would do"));
}

TEST_CASE("the same data loaded again and again") {
    Machine m = advice();
    expect_one(of_product(m, "matmul_naive"), "advice/redundant-loads", 2, "loads the same data about 8 times");
}

TEST_CASE("bank conflicts and their degree") {
    Machine m = advice();
    expect_one(of_transpose(m, "transpose_conflicts", 8), "advice/bank-conflicts", 4,
               "reads shared memory with 32-way bank conflicts: 32 wavefronts per request where 1 would do");
}

TEST_CASE("divergence: branches that part warps, and loops that lanes leave one by one") {
    Machine m = advice();
    expect_one(of_rounds(m, "odd_and_even"), "advice/divergence", 5,
               "diverge here in 100 % of all cases, and 16 of 32 are idle until they reconverge");
    expect_one(of_rounds(m, "trips_by_lane"), "advice/divergence", 6, "of 32 are idle until they reconverge");
}

TEST_CASE("a branch around four instructions is none for the compiler, one around five is") {
    const auto found = [](int instructions) {
        std::string lines =
            "mov.u32 %r4, 0;\nL: add.u32 %r4, %r4, 1;\nand.b32 %r3, %t, 1;\nsetp.eq.u32 %p1, %r3, 0;\n"
            "@%p1 bra E;\n";
        for (int i = 0; i < instructions; ++i) lines += "xor.b32 %r1, %r1, %t;\n";
        lines += "E: setp.lt.u32 %p2, %r4, 200;\n@%p2 bra L;\nsetp.eq.u32 %p1, %r1, 1;\n";
        Machine m(1, vgpu::test::snippet("mov.u32 %r1, 0;\n" + lines), 200'000'000);
        const auto unused = m.upload(floats(1));
        return ids(only_advice(m.diagnose("k", {264}, {256}, unused, unused)));
    };
    CHECK(found(4).empty());
    CHECK(found(5) == std::vector<std::string>{"advice/divergence"});
}

TEST_CASE("of two branches in one line each counts once") {
    Machine m(1, vgpu::test::snippet("mov.u32 %r1, 0; mov.u32 %r4, 0;\nL: add.u32 %r4, %r4, 1;\nand.b32 %r3, %t, 1;\n"
                                     "setp.eq.u32 %p1, %r3, 0; setp.gt.u32 %p3, %t, 9999;\n@%p3 bra F;"
                                     " xor.b32 %r1, %r1, 1; xor.b32 %r1, %r1, 2; xor.b32 %r1, %r1, 3;"
                                     " xor.b32 %r1, %r1, 4; xor.b32 %r1, %r1, 5; F: @%p1 bra E;\n"
                                     "xor.b32 %r1, %r1, %t;\nxor.b32 %r1, %r1, %t;\nxor.b32 %r1, %r1, %t;\n"
                                     "xor.b32 %r1, %r1, %t;\nxor.b32 %r1, %r1, %t;\n"
                                     "E: setp.lt.u32 %p2, %r4, 200;\n@%p2 bra L;"));
    const auto unused = m.upload(floats(1));
    const auto found = only_advice(m.diagnose("k", {264}, {256}, unused, unused));
    REQUIRE(found.size() == 1);
    CHECK(found[0].place.line == 5);
    CHECK_THAT(found[0].message, Contains("diverge here in 50 % of all cases, and 16 of 32 are idle"));
}

TEST_CASE("a jump by a table parts a warp as a branch does") {
    Machine m(1, vgpu::test::snippet("ts: .branchtargets A, B; mov.u32 %r1, 0; mov.u32 %r4, 0;\n"
                                     "L: add.u32 %r4, %r4, 1;\nand.b32 %r3, %t, 1;\nbrx.idx %r3, ts;\n"
                                     "A: xor.b32 %r1, %r1, 1; xor.b32 %r1, %r1, 2; xor.b32 %r1, %r1, 3; bra E;\n"
                                     "B: xor.b32 %r1, %r1, 4; xor.b32 %r1, %r1, 5; xor.b32 %r1, %r1, 6;\n"
                                     "E: setp.lt.u32 %p2, %r4, 200;\n@%p2 bra L;"));
    const auto unused = m.upload(floats(1));
    const auto found = only_advice(m.diagnose("k", {264}, {256}, unused, unused));
    REQUIRE(found.size() == 1);
    CHECK(found[0].place.line == 4);
    CHECK_THAT(found[0].message, Contains("diverge here in 100 % of all cases, and 16 of 32 are idle"));
}

TEST_CASE("requests of a part of a warp are held against what that part needs") {
    Machine m(1, vgpu::test::snippet("and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; mul.wide.u32 %l1, %t, 128;\n"
                                     "add.s64 %l1, %l1, %a;\n@%p1 bra DONE;\nld.global.u32 %r2, [%l1];\n"
                                     "ld.global.v2.u32 {%r2, %r3}, [%l1+32];\nDONE:"));
    const auto in = m.upload(floats(256 * 32 + 16));
    std::map<std::uint32_t, std::string> messages;
    for (const auto& one : only_advice(m.diagnose("k", {2048}, {256}, in, in))) messages[one.place.line] += one.message;
    CHECK_THAT(messages[4], Contains("each request of 16 threads reads 16 sectors of 32 bytes where 2 would do"));
    CHECK_THAT(messages[5], Contains("each request of 16 threads reads 16 sectors of 32 bytes where 4 would do"));
}

TEST_CASE("what is said of a kernel stands at its first line") {
    Machine m(1,
              ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r;\n.reg .pred %p;\n"
              ".loc 1 5 0\nmov.u32 %r, 0;\nL:\n.loc 1 6 0\nadd.u32 %r, %r, 1;\nsetp.lt.u32 %p, %r, 4000;\n"
              "@%p bra L;\nret;\n}\n.file 1 \"k.cu\"\n");
    const auto found = m.diagnose("k", {3}, {1024});
    REQUIRE(found.size() == 1);
    CHECK(found[0].place.line == 5);
    CHECK_THAT(found[0].message, Contains("the grid has 3 blocks, the device 4 multiprocessors: 1 of them have"));
}

TEST_CASE("low occupancy names its limit") {
    Machine m = advice();
    const auto data = m.upload(floats(1 << 18)), out = m.upload(floats(1 << 18));
    const auto found = m.diagnose("much_shared", {2048}, {128}, data, out, 20);
    const auto it = std::ranges::find_if(found, about_occupancy);
    REQUIRE(it != found.end());
    CHECK_THAT(it->message, Contains("holds 5 blocks of 128 threads at once, 31 % of the warps") &&
                                Contains("limited by shared memory"));
    CHECK(it->place.line >= place(7));
    const auto few = m.diagnose("much_shared", {4}, {128}, data, out, 20);  // too small to fill the device
    CHECK(std::ranges::none_of(few, about_occupancy));
}

TEST_CASE("what each cause costs a launch, and all of them together") {
    Machine m = advice();
    const auto in = m.upload(floats(1024 * 1024)), out = m.upload(floats(1024 * 1024));
    const auto costs = [&](const std::string& kernel, unsigned rows) {
        std::map<std::string, double> shares;
        for (const auto& one : m.launch(kernel, {32, 32}, {32, rows}, in, out, 1024).costs)
            shares[one.cause] = one.share;
        return shares;
    };
    const auto naive = costs("transpose_naive", 32), conflicts = costs("transpose_conflicts", 8);
    CHECK((naive.contains("uncoalesced") && !naive.contains("bank_conflicts")));
    CHECK((conflicts.contains("bank_conflicts") && !conflicts.contains("uncoalesced")));
    for (const auto& each : {naive, conflicts}) CHECK((each.at("all") > 0.1 && each.at("all") < 1));
    for (const auto& [cause, share] : costs("transpose_padded", 8)) CHECK((cause == "low_occupancy" || cause == "all"));

    // Without its conflicts the kernel takes as long as the one that has none.
    const auto ns = [&](const char* kernel) { return m.launch(kernel, {32, 32}, {32, 8}, in, out, 1024).duration_ns; };
    const double without = ns("transpose_conflicts") * (1 - conflicts.at("bank_conflicts"));
    CHECK(without > 0.9 * ns("transpose_padded"));
    CHECK(without < 1.1 * ns("transpose_padded"));

    const auto shared = m.launch("much_shared", {2048}, {128}, in, out, 20).costs;
    CHECK(std::ranges::any_of(shared, [](const auto& one) { return one.cause == "low_occupancy"; }));
    Machine off = advice(1, {.advice = false});
    const auto ones = off.upload(floats(1 << 18)), sums = off.upload(floats(1 << 18));
    CHECK(off.launch("much_shared", {2048}, {128}, ones, sums, 20).costs.empty());
}

TEST_CASE("atomics that meet cost time in global and in shared memory, and others none") {
    Machine m = advice();
    const auto in = m.upload(floats(1 << 18)), out = m.upload(floats(1 << 18));
    m.may_be_wrong = true;  // reads shared memory that nothing was written to
    const auto contention = [&](int bins) {
        for (const auto& one : m.launch("count_in_bins", {1024}, {256}, in, out, bins).costs)
            if (one.cause == "contention") return one.share;
        return 0.0;
    };
    CHECK(contention(1) > 0.8);
    CHECK(contention(2) > 0.6);
    CHECK(contention(2) < contention(1));
}

TEST_CASE("divisions cost time, and products of indices none that could be saved") {
    Machine m = advice();
    const auto in = m.upload(floats(1 << 18)), out = m.upload(floats(1 << 18));
    const auto arithmetic = [&](const char* kernel, auto... more) {
        for (const auto& one : m.launch(kernel, {1024}, {256}, in, out, more...).costs)
            if (one.cause == "expensive_arithmetic") return one.share;
        return 0.0;
    };
    CHECK(arithmetic("divide", 20) > 0.35);
    CHECK(arithmetic("multiply_indices", 20) == 0);
}

TEST_CASE("fast kernels, small launches and failed ones get no advice") {
    Machine m = advice();
    const auto data = m.upload(floats(1 << 18)), out = m.upload(floats(1 << 18));
    CHECK(ids(of_product(m, "matmul_tiled")).empty());
    CHECK(ids(of_transpose(m, "transpose_padded", 8)).empty());
    CHECK(ids(of_rounds(m, "warps_apart")).empty());
    CHECK(ids(only_advice(m.diagnose("copy", {1024}, {256}, data, out, (1 << 18) - 5))).empty());
    CHECK(ids(only_advice(m.diagnose("stencil", {1024}, {256}, data, out, (1 << 18) - 5))).empty());
    CHECK(ids(only_advice(m.diagnose("transpose_naive", {1, 1}, {32, 32}, data, out, 32))).empty());
    const auto failed = m.diagnose("transpose_naive", {32, 32}, {32, 32}, data, out, 1024);  // too small
    REQUIRE_FALSE(failed.empty());
    CHECK(ids(only_advice(failed)).empty());
}

TEST_CASE("advice is the same for any number of host threads, and none when it is switched off") {
    Machine one = advice(1), three = advice(3), off = advice(1, {.advice = false});
    for (const char* kernel : {"matmul_rows", "matmul_naive"}) {
        const auto a = of_product(one, kernel), b = of_product(three, kernel);
        CHECK(ids(a) == ids(b));
        for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
            CHECK(a[i].message == b[i].message);
            CHECK(a[i].weight == b[i].weight);
            // In steps of 2^-20 ns, so that the sum over many launches does not depend on their grouping.
            CHECK(std::ldexp(a[i].weight, 20) == std::round(std::ldexp(a[i].weight, 20)));
        }
        CHECK(of_product(off, kernel).empty());
    }
}

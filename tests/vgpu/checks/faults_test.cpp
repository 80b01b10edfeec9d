// The diagnostic of a failed launch: the rule, the place, the thread, and the message to the student.
#include <algorithm>

#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/text/words.hpp"

using namespace warpgrade;
using device::Diagnostic;
using vgpu::test::Machine;
using vgpu::test::read_text;

namespace {

Machine faults(unsigned threads = 1) { return Machine(threads, read_text(WG_TEST_FAULTS ".sm_80"), 3'000'000); }

// The line of faults.cu with this text.
std::uint32_t line_with(const std::string& text) {
    const std::string source = read_text(WG_TEST_SOURCES "/faults.cu");
    const auto at = source.find(text);
    REQUIRE(at != std::string::npos);
    return static_cast<std::uint32_t>(
        std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1);
}

// The one diagnostic of a launch.
template <class... Args>
Diagnostic fault_of(Machine& m, const std::string& kernel, device::Dim3 grid, device::Dim3 block, const Args&... args) {
    const auto found = m.diagnose(kernel, grid, block, args...);
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].kernel == kernel);
    return found[0];
}

std::string id(const Diagnostic& d) { return d.rule->id; }

std::vector<int> ints(int n) { return std::vector<int>(static_cast<std::size_t>(n)); }

}  // namespace

TEST_CASE("out of bounds: how far, of which memory, which thread, how many more") {
    for (const unsigned threads : {1u, 4u}) {
        Machine m = faults(threads);
        const auto out = m.upload(ints(1000));
        auto d = fault_of(m, "write_index", {8}, {128}, out, 0);
        CHECK(id(d) == "memcheck/out-of-bounds");
        CHECK(d.message == "writes 4 bytes directly past the end of {memory}; 23 more threads of its warp do the same");
        CHECK(d.place.line == line_with("out[blockIdx.x"));
        CHECK_THAT(d.place.file, Contains("faults.cu"));
        CHECK(d.thread == device::ThreadPlace{{104, 0, 0}, {7, 0, 0}});
        REQUIRE(d.memory);
        CHECK(d.memory->name == "cudaMalloc");
        CHECK(d.memory->bytes == 4000);
        d = fault_of(m, "write_index", {8}, {1}, out, 1256);
        CHECK(d.message == "writes 4 bytes, 1,024 bytes past the end of {memory}");  // in the first of eight blocks
        d = fault_of(m, "write_index", {1}, {1}, out, 1256);
        CHECK(d.message == "writes 4 bytes, 1,024 bytes past the end of {memory}");
        d = fault_of(m, "write_index", {1}, {1}, out.address - 4, 0);
        CHECK(d.message == "writes 4 bytes, 4 bytes before {memory}");
        d = fault_of(m, "write_index", {1}, {32}, out, -2);
        CHECK(d.message ==
              "writes 4 bytes at index 4,294,967,294 of {memory} (-2 converted to unsigned); one "
              "more thread of its warp does the same");
        d = fault_of(m, "write_index", {1}, {1}, out, -1);
        CHECK(d.message == "writes 4 bytes at index 4,294,967,295 of {memory} (-1 converted to unsigned)");
        d = fault_of(m, "write_index", {1}, {1}, out.address + (1ULL << 34), 0);  // one index further
        CHECK(d.message == "writes 4 bytes, 17,179,865,184 bytes past the end of {memory}");
        d = fault_of(m, "write_index", {1}, {1}, out, -(1 << 20));
        CHECK(d.message == "writes 4 bytes at index 4,293,918,720 of {memory} (-1048576 converted to unsigned)");
        d = fault_of(m, "write_index", {1}, {1}, out, -(1 << 20) - 1);
        CHECK(d.message == "writes 4 bytes, 17,175,670,876 bytes past the end of {memory}");
        d = fault_of(m, "read_vector", {1}, {2}, m.upload(ints(6)), out);
        CHECK(d.message == "reads 16 bytes at offset 16 of {memory}, the last 8 past its end");
    }
}

TEST_CASE("the memory that an access leaves is the one that its thread's neighbours are in, not the nearest") {
    Machine m = faults();
    const auto small = m.upload(ints(32)), next = m.upload(ints(64));
    const int far = static_cast<int>((next.address - small.address) / 4) + 64;  // directly behind `next`
    const auto d = fault_of(m, "write_index", {2}, {32}, small, 0);
    CHECK(d.memory.value().bytes == 128);
    CHECK(fault_of(m, "write_index", {1}, {1}, small, far).memory.value().bytes == 256);
}

TEST_CASE("where other lanes are now counts more than where the instruction was before") {
    vgpu::test::Snippet s(
        "mov.u32 %r4, 0; mov.u64 %l1, %pa;\nL: st.global.u32 [%l1], %t;\nadd.u32 %r4, %r4, 1;\n"
        "setp.eq.u32 %p1, %r4, 2;\n@%p1 bra DONE;\nmov.u64 %l1, %pb;\nsetp.eq.u32 %p2, %t, 31;\n"
        "@%p2 add.s64 %l1, %l1, 1024;\nbra L;\nDONE:");
    const auto d = s.diagnose().at(0);
    CHECK(d.message == "writes 4 bytes, 124 bytes past the end of {memory}");
    CHECK(d.thread == device::ThreadPlace{{31, 0, 0}, {0, 0, 0}});
}

TEST_CASE("where the other lanes are counts more than what is near, unless that is far away") {
    constexpr std::uint64_t far = 1ULL << 37;
    const auto run = [](std::uint64_t behind_b) {
        vgpu::test::Snippet s("mov.u64 %l1, %pa;\nsetp.eq.u32 %p1, %t, 31;\n@%p1 add.s64 %l1, %b, " +
                              std::to_string(1024 + behind_b) + ";\nst.global.u32 [%l1], %t;");
        return std::pair(s.diagnose().at(0), s.b.address - s.a.address);
    };
    const auto past = [](std::uint64_t bytes) {
        return "writes 4 bytes, " + vgpu::grouped(bytes) + " bytes past the end of {memory}";
    };
    for (const std::uint64_t near : {std::uint64_t{0}, std::uint64_t{4096}}) {
        const auto [d, apart] = run(near);
        CHECK(d.message == past(apart + near));
    }
    CHECK(run(far - 4).first.message == past(far - 4));  // of b, since a is too far
    CHECK_FALSE(run(far).first.memory);
}

TEST_CASE("a variable of the module is known by its name") {
    Machine m = faults();
    const auto d = fault_of(m, "read_table", {1}, {1}, m.upload(ints(1)), 12);
    CHECK(d.message == "reads 4 bytes, 8 bytes past the end of {memory}");
    REQUIRE(d.memory);
    CHECK(d.memory->name == "table");
    CHECK(d.memory->variable);
    const auto read_only =
        fault_of(m, "write_index", {1}, {3}, m.gpu->find_symbol(m.module, "coefficients").address, 0);
    CHECK(id(read_only) == "memcheck/read-only");
    CHECK(read_only.message == "writes 4 bytes of {memory}; 2 more threads of its warp do the same");
    CHECK(read_only.memory.value().name == "coefficients");
}

TEST_CASE("pointers that are none: null, freed, of the host, of nothing") {
    Machine m = faults();
    auto d = fault_of(m, "add_to", {1}, {1}, std::uint64_t{0});
    CHECK(id(d) == "memcheck/null-pointer");
    CHECK(d.message == "updates 4 bytes through a null pointer");
    d = fault_of(m, "write_index", {1}, {32}, std::uint64_t{0}, 5);
    CHECK(id(d) == "memcheck/null-pointer");
    CHECK(d.message == "writes 4 bytes, 20 bytes from a null pointer; 31 more threads of its warp do the same");

    const auto gone = m.upload(ints(100));
    m.gpu->free(gone.address, 77);
    d = fault_of(m, "write_index", {1}, {1}, gone, 10);
    CHECK(id(d) == "memcheck/use-after-free");
    CHECK(d.message == "writes 4 bytes at offset 40 of {memory}, which was freed");
    CHECK(d.memory.value().bytes == 400);
    REQUIRE(d.related.size() == 1);
    CHECK(d.related[0].role == "freed");
    CHECK(d.related[0].place.code == 77);

    d = fault_of(m, "write_index", {1}, {1}, std::uint64_t{0x7ffc12345678}, 0);
    CHECK(id(d) == "memcheck/host-pointer");
    CHECK(d.message == "writes 4 bytes at 0x7ffc12345678, which is host memory");
    d = fault_of(m, "write_index", {1}, {1}, std::uint64_t{0xcdcdcdcdcdcdcdcc}, 0);
    CHECK(id(d) == "memcheck/out-of-bounds");
    CHECK(d.message == "writes 4 bytes at 0xcdcdcdcdcdcdcdcc, where nothing is allocated");
}

TEST_CASE("misaligned: at which offset") {
    Machine m = faults();
    const auto in = m.upload(ints(64)), out = m.upload(ints(64));
    const auto d = fault_of(m, "read_vector", {1}, {2}, in.address + 4, out);
    CHECK(id(d) == "memcheck/misaligned");
    CHECK(d.message ==
          "reads 16 bytes at offset 4 of {memory}, which is not a multiple of 16; "
          "one more thread of its warp does the same");
    CHECK(d.place.line == line_with("in[threadIdx.x];  // here"));
}

TEST_CASE("shared memory: the array that was left, or the bytes that the launch gave") {
    Machine m = faults();
    const auto out = m.upload(ints(32));
    auto d = fault_of(m, "shared_static", {1}, {32}, out, 0);
    CHECK(id(d) == "memcheck/out-of-bounds");
    CHECK(d.message ==
          "writes 4 bytes directly past the end of {memory} in shared memory; 15 more threads of its warp do the same");
    CHECK(d.memory.value().name == "tile");
    CHECK(d.memory.value().variable);
    CHECK(d.memory.value().bytes == 64);
    CHECK(d.place.line == line_with("tile[i + threadIdx.x] = 2"));
    d = fault_of(m, "shared_dynamic", {1}, {1}, out, 0);
    CHECK_THAT(d.message, Contains("the launch gives the block none") && Contains("third argument"));
    try {
        m.launch_shared("shared_dynamic", {1}, {1}, 1024, out, 300);
    } catch (const device::DeviceError&) {
    }
    d = m.analysis->take_diagnostics().at(0);
    CHECK(d.message == "writes 4 bytes, 176 bytes past the end of the block's 1,024 bytes of shared memory");
    d = fault_of(m, "shared_static", {1}, {1}, out, -30);
    CHECK(d.message == "writes 4 bytes, 120 bytes before {memory} in shared memory");
    CHECK(d.memory.value().name == "tile");
}

TEST_CASE("assertions and loops without end name their line") {
    Machine m = faults();
    auto d = fault_of(m, "asserts", {1}, {64}, 40);
    CHECK(id(d) == "launch/failed");
    CHECK(d.message == "fails the assertion `int(threadIdx.x) < limit`; 23 more threads of its warp do the same");
    CHECK(d.place.line == line_with("assert(int"));
    CHECK(d.thread == device::ThreadPlace{{40, 0, 0}, {0, 0, 0}});
    d = fault_of(m, "spins", {1}, {64}, m.upload(ints(1)));
    CHECK(id(d) == "launch/runaway");
    CHECK_THAT(d.message, Contains("is still in this loop after the kernel has executed 3,000,000 warp instructions"));
    CHECK(d.place.line == line_with("while (*static_cast"));
}

TEST_CASE("a matrix instruction out of bounds names its line, also through a generic pointer") {
    Machine m = faults();
    const auto d = fault_of(m, "load_tile", {1}, {32}, m.upload(ints(3)), m.upload(ints(32)));
    CHECK(id(d) == "memcheck/out-of-bounds");
    CHECK(d.place.line == line_with("load_matrix_sync(a"));
}

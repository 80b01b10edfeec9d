// What memory accesses count, from first principles, and which ones are refused.
#include <unistd.h>

#include <functional>
#include <numeric>

#include "device/address_space.hpp"
#include "support/contains.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/memory/memory.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

std::vector<float> ramp(std::size_t n) {
    std::vector<float> v(n);
    std::iota(v.begin(), v.end(), 0.0f);
    return v;
}

// The error of a launch that must fail.
device::DeviceError fault_of(const std::function<void()>& launch) {
    try {
        launch();
    } catch (const device::DeviceError& e) {
        return e;
    }
    FAIL("the launch did not fail");
    throw std::logic_error("unreachable");
}

bool mentions(const device::DeviceError& e, const std::string& text) {
    return std::string(e.what()).find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("a contiguous load of 32 floats is 4 sectors, one of stride s is min(32, 4s)") {
    Machine m;
    const auto in = m.upload(ramp(32 * 64)), out = m.upload(ramp(32));
    for (const int stride : {1, 2, 3, 4, 8, 16, 64}) {
        const auto c = m.launch("load_strided", {1}, {32}, in, out, stride).counters;
        CAPTURE(stride);
        CHECK(c.global_load_requests == 1);
        CHECK(c.global_load_sectors == static_cast<std::uint64_t>(std::min(32, 4 * stride)));
        CHECK(c.global_store_sectors == 4);
        CHECK(m.download(out)[5] == 5.0f * static_cast<float>(stride));
    }
}

TEST_CASE("reversed and shifted loads touch the sectors that they span") {
    Machine m;
    const auto in = m.upload(ramp(64)), out = m.upload(ramp(32));
    CHECK(m.launch("load_reversed", {1}, {32}, in, out, 32).counters.global_load_sectors == 4);
    CHECK(m.download(out)[0] == 31.0f);
    CHECK(m.launch("load_misaligned", {1}, {32}, in, out, 1).counters.global_load_sectors == 5);
    CHECK(m.launch("load_misaligned", {1}, {32}, in, out, 8).counters.global_load_sectors == 4);
    CHECK(m.download(out)[3] == 11.0f);
}

TEST_CASE("a float4 load is one request of 16 sectors, 32 bytes are one sector") {
    Machine m;
    const auto in = m.upload(ramp(128)), out = m.upload(ramp(128));
    const auto c = m.launch("load_vector", {1}, {32}, in, out).counters;
    CHECK(c.global_load_requests == 1);
    CHECK(c.global_load_sectors == 16);
    CHECK(m.download(out) == m.download(in));
    const auto bytes = m.upload(std::vector<unsigned char>(32, 7)), copy = m.upload(std::vector<unsigned char>(32));
    CHECK(m.launch("copy_bytes", {1}, {32}, bytes, copy).counters.global_load_sectors == 1);
    CHECK(m.download(copy) == std::vector<unsigned char>(32, 7));
}

TEST_CASE("a shared access of stride s takes gcd(s, 32) wavefronts, a broadcast one") {
    Machine m;
    const auto out = m.upload(ramp(32));
    for (const int stride : {1, 2, 3, 8, 16, 32, 33}) {
        const auto c = m.launch("shared_strided", {1}, {32}, out, stride).counters;
        CAPTURE(stride);
        CHECK(c.shared_load_requests == 1);
        CHECK(c.shared_load_wavefronts == static_cast<std::uint64_t>(std::gcd(stride, 32)));
        CHECK(c.shared_load_bank_conflicts == static_cast<std::uint64_t>(std::gcd(stride, 32) - 1));
        CHECK(c.shared_store_bank_conflicts == 0);
        CHECK(m.download(out)[31] == 31.0f * static_cast<float>(stride));
    }
    const auto c = m.launch("shared_broadcast", {1}, {32}, out).counters;
    CHECK(c.shared_load_wavefronts == 1);
    CHECK(m.download(out) == std::vector<float>(32, 7.0f));
}

TEST_CASE("wavefronts of wide shared loads are those that Nsight Compute counts on sm_90 (trap 11)") {
    struct Row {
        int stride;
        std::uint64_t wavefronts, conflicts;
    };
    Machine m;
    const auto doubles = m.upload(std::vector<double>(32));
    for (const Row& r : {Row{0, 1, 0},
                         {1, 2, 0},
                         {2, 4, 2},
                         {3, 2, 0},
                         {4, 8, 6},
                         {8, 16, 14},
                         {16, 32, 30},
                         {32, 32, 30},
                         {33, 2, 0}}) {
        const auto c = m.launch("shared_strided64", {1}, {32}, doubles, r.stride).counters;
        CAPTURE(r.stride);
        CHECK(c.shared_load_wavefronts == r.wavefronts);
        CHECK(c.shared_load_bank_conflicts == r.conflicts);
        CHECK(c.shared_store_wavefronts == 66);
    }
    const auto vectors = m.upload(std::vector<float>(128));
    for (const Row& r :
         {Row{0, 2, 0}, {1, 4, 0}, {2, 8, 4}, {3, 4, 0}, {4, 16, 12}, {8, 32, 28}, {16, 32, 28}, {17, 4, 0}}) {
        const auto c = m.launch("shared_strided128", {1}, {32}, vectors, r.stride).counters;
        CAPTURE(r.stride);
        CHECK(c.shared_load_wavefronts == r.wavefronts);
        CHECK(c.shared_load_bank_conflicts == r.conflicts);
        CHECK(c.shared_store_wavefronts == 68);
    }
}

TEST_CASE("a generic address says which space it is of (trap 6)") {
    Machine m;
    const auto out = m.upload(std::vector<int>(128)), in = m.upload(std::vector<int>{7, 8, 9, 10});
    const auto c = m.launch("through_generic_addresses", {1}, {32}, out, in, 5).counters;
    const auto got = m.download(out);
    for (int t = 0; t < 32; ++t) {
        CAPTURE(t);
        const int expected[] = {7 + t % 4, 100 + t % 4, 5 * (t % 4)};
        CHECK(got[4 * t] == expected[t % 3]);
        for (int space = 0; space < 3; ++space) CHECK(got[4 * t + 1 + space] == (t % 3 == space));
    }
    CHECK(c.global_load_requests >= 1);
    CHECK(c.shared_load_requests >= 1);
    CHECK(c.local_load_requests >= 1);
}

TEST_CASE("lanes that are off touch nothing") {
    Machine m;
    const auto in = m.upload(std::vector<int>(100, 3)), out = m.upload(std::vector<int>(128, -1));
    const auto record = m.launch("copy", {4}, {32}, in, out, 100);
    CHECK(record.counters.global_load_requests == 4);
    CHECK(record.counters.global_load_sectors == 13);  // 100 · 4 bytes
    const auto result = m.download(out);
    CHECK(result[99] == 3);
    CHECK(result[100] == -1);
}

TEST_CASE("constants, initialised variables and local arrays hold what they should") {
    Machine m;
    const auto weights = m.gpu->find_symbol(m.module, "weights");
    CHECK(weights.bytes == 32);
    const std::vector<float> w{1, 2, 3, 4, 5, 6, 7, 8};
    m.gpu->write(weights.address, std::as_bytes(std::span(w)));
    const auto sum = m.upload(std::vector<float>(32));
    m.launch("constant_sum", {1}, {32}, sum);
    CHECK(m.download(sum) == std::vector<float>(32, 36.0f));
    const auto ints = m.upload(std::vector<int>(32));
    m.launch("read_initialised", {1}, {32}, ints);
    CHECK(m.download(ints)[6] == 30);
    const auto record = m.launch("local_array", {1}, {32}, ints, 20);
    CHECK(record.counters.local_store_requests > 0);
    for (int t = 0; t < 32; ++t) {
        int expected = 0;
        for (int i = 0; i < 20; ++i) expected += t * 100 + (i * 7 + t) % 20;
        CHECK(m.download(ints)[static_cast<std::size_t>(t)] == expected);
    }
}

TEST_CASE("fresh memory is not zero") {
    Machine m;
    vgpu::test::Buffer<int> b{m.gpu->allocate(64, "cudaMalloc"), 16};
    for (const int v : m.download(b)) CHECK(v != 0);
}

TEST_CASE("accesses out of bounds say what, where and by which thread") {
    Machine m;
    const auto out = m.upload(std::vector<int>(64));
    const auto past = fault_of([&] { m.launch("store_at", {1}, {1}, out, std::int64_t{66}); });
    CHECK(past.code == device::error::illegal_address);
    CHECK(past.sticky);
    CHECK(mentions(past, "writes 4 bytes, 8 bytes past the end of an allocation of 256 bytes (cudaMalloc)"));
    CHECK(mentions(past, "kernels.cu:"));
    CHECK(mentions(past, "thread (0,0,0) of block (0,0,0)"));
    CHECK(mentions(fault_of([&] { m.launch("store_at", {1}, {1}, out, std::int64_t{-1}); }),
                   "4 bytes before an allocation of 256 bytes"));
    vgpu::test::Buffer<int> null{0, 0}, host{0x7fff12345678 & ~3ULL, 0};
    CHECK(mentions(fault_of([&] { m.launch("store_at", {1}, {1}, null, std::int64_t{0}); }), "null pointer"));
    CHECK(mentions(fault_of([&] { m.launch("store_at", {1}, {1}, host, std::int64_t{0}); }), "which is host memory"));
    const auto gone = m.upload(std::vector<int>(64));
    m.gpu->free(gone.address);
    CHECK(mentions(fault_of([&] { m.launch("store_at", {1}, {1}, gone, std::int64_t{3}); }), "was freed"));
    // An address near the top of the range must not wrap around the check.
    CHECK(fault_of([&] {
              m.launch("store_at", {1}, {1}, vgpu::test::Buffer<int>{~0ULL - 3, 0}, std::int64_t{0});
          }).code == device::error::illegal_address);
}

TEST_CASE("misaligned and shared accesses out of bounds are refused") {
    Machine m;
    const auto out = m.upload(std::vector<int>(64));
    const auto misaligned = fault_of([&] { m.launch("store_unaligned", {1}, {1}, out); });
    CHECK(misaligned.code == device::error::misaligned_address);
    CHECK(mentions(misaligned, "not a multiple of 4"));
    const auto shared = fault_of([&] { m.launch("shared_out_of_bounds", {1}, {16}, out, 16); });
    CHECK(shared.code == device::error::illegal_address);
    CHECK(mentions(shared, "reads 4 bytes directly past the end of"));
}

TEST_CASE("host copies stay inside an allocation, and free is checked") {
    Machine m;
    const auto out = m.upload(std::vector<int>(16));
    std::vector<std::byte> more(65);
    CHECK(fault_of([&] { m.gpu->read(out.address, more); }).code == device::error::invalid_value);
    CHECK(fault_of([&] { m.gpu->write(out.address + 60, std::span(more).first(8)); }).code ==
          device::error::invalid_value);
    CHECK(fault_of([&] { m.gpu->fill(~0ULL - 8, 0, 64); }).code == device::error::invalid_value);
    CHECK(fault_of([&] { m.gpu->free(out.address + 4); }).code == device::error::invalid_value);
    m.gpu->free(out.address);
    CHECK(mentions(fault_of([&] { m.gpu->free(out.address); }), "freed before"));
    CHECK(fault_of([&] { m.gpu->allocate(1ULL << 60, ""); }).code == device::error::memory_allocation);
}

TEST_CASE("memory knows where the program asked for it, also when it is freed") {
    vgpu::GlobalMemory memory(1 << 20);
    const std::uint64_t first = memory.allocate(1024, {"cudaMalloc", 0x411}).base;
    const std::uint64_t second = memory.allocate_host_visible(4096, 0, {"cudaMallocHost", 0x422}).base;
    const auto place = memory.place_of(first + 1023);
    REQUIRE(place);
    CHECK((place->name == "cudaMalloc" && place->bytes == 1024 && place->allocated.code == 0x411));
    CHECK_FALSE(place->variable);
    CHECK(memory.place_of(second)->allocated.code == 0x422);
    // For an address near it, the nearest allocation; for one far from device memory, none.
    CHECK(memory.place_of(first + 1024 + 8)->allocated.code == 0x411);
    CHECK_FALSE(memory.known(first + 1024 + 8));
    for (const std::uint64_t elsewhere : {std::uint64_t{0}, std::uint64_t{0x7FFF'0000'0000}})
        CHECK_FALSE(memory.place_of(elsewhere));
    memory.free(first, 0x433);
    const auto freed = memory.known(first + 8);
    REQUIRE(freed);
    CHECK((freed->freed && freed->freed_at.code == 0x433 && freed->place.allocated.code == 0x411));
    CHECK(freed->base == first);
    CHECK(memory.place_of(first + 8)->bytes == 1024);
    CHECK_FALSE(memory.known(second)->freed);
}

TEST_CASE("a module's variable is known by its readable name") {
    Machine m(1, R"(
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .b8 _ZN5table4sumsE[40];
.visible .entry none() { ret; }
)");
    const auto known = m.analysis->find_memory(m.gpu->find_symbol(m.module, "_ZN5table4sumsE").address + 39);
    REQUIRE(known);
    CHECK((known->place.variable && known->place.name == "table::sums" && known->place.bytes == 40));
}

TEST_CASE("memory that the host maps is one with its file, whose size is sealed") {
    vgpu::GlobalMemory memory(1 << 20);
    vgpu::Allocation& a = memory.allocate_host_visible(5000, 0, "test");
    CHECK(a.base >= device::address_space::host_base);
    CHECK(memory.used_bytes() == 0);  // no device memory
    a.host[4999] = std::byte{42};
    std::byte seen{};
    CHECK(pread(a.file.get(), &seen, 1, 4999) == 1);
    CHECK(seen == std::byte{42});
    CHECK(ftruncate(a.file.get(), 0) != 0);
    CHECK(ftruncate(a.file.get(), 1 << 20) != 0);
    CHECK_THROWS_AS(memory.checked(a.base, 5001, "test"), device::DeviceError);
    CHECK_THROWS_AS(memory.allocate_host_visible(1 << 20, 0, "test"), device::DeviceError);
    // The host's own pages, each shared once.
    constexpr std::uint64_t at = 0x7F00'0000'0000;
    CHECK(memory.allocate_host_visible(8192, at, "test").base == at);
    CHECK_THROWS_AS(memory.allocate_host_visible(4096, at + 4096, "test"), device::DeviceError);
    CHECK_THROWS_AS(memory.allocate_host_visible(8192, at - 4096, "test"), device::DeviceError);
    memory.free(at);
    memory.allocate_host_visible(4096, at + 4096, "test");
}

TEST_CASE("a kernel reads its parameters at computed addresses, and nothing beyond them") {
    // out[i] = table[i + shift]: nvcc indexes an array in a structure that is passed by value like this.
    Machine m(1, R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry pick(.param .align 8 .b8 table[32], .param .u64 out, .param .u32 shift) {
    .reg .b32 %i, %v, %w, %s;
    .reg .b64 %a, %o, %n;
    mov.u32 %i, %tid.x;
    ld.param.u32 %s, [shift];
    add.u32 %w, %i, %s;
    mul.wide.u32 %n, %w, 4;
    mov.b64 %a, table;
    add.u64 %a, %a, %n;
    ld.param.u32 %v, [%a];
    ld.param.u64 %o, [out];
    mul.wide.u32 %n, %i, 4;
    add.u64 %o, %o, %n;
    st.global.u32 [%o], %v;
    ret;
})");
    struct Table {
        int v[8] = {10, 11, 12, 13, 14, 15, 16, 17};
    };
    const auto out = m.upload(std::vector<int>(4));
    m.launch("pick", {1}, {4}, Table{}, out, 3);
    CHECK(m.download(out) == std::vector<int>{13, 14, 15, 16});
    const auto beyond = vgpu::test::message_of([&] { m.launch("pick", {1}, {4}, Table{}, out, 9); }, 700);
    CHECK(beyond.find("parameter") != std::string::npos);
    INFO(beyond);
    CHECK(beyond.find("thread (2,0,0)") != std::string::npos);
}

TEST_CASE("mapped and managed memory cost what crosses the link") {
    Machine m(1, vgpu::test::read_text(WG_TEST_KERNELS), 200'000'000, "h100:all");
    const std::uint32_t n = 1 << 16;
    const auto allocate = [&](const char* call) {
        const auto memory = m.gpu->allocate_host_visible(n * sizeof(float), 0, call);
        return vgpu::test::Buffer<float>{memory.address, n};
    };
    const auto time = [&](const auto& a, const auto& b) {
        return m.launch("copy", {n / 256}, {256}, a, b, n).duration_ns;
    };
    const auto a = m.upload(std::vector<float>(n)), b = m.upload(std::vector<float>(n));
    const double plain = time(a, b);
    const auto mapped = allocate("cudaHostAlloc"), managed = allocate("cudaMallocManaged");
    CHECK(time(mapped, b) > plain + n * sizeof(float) / 55.0 / 2);
    CHECK(time(b, mapped) > plain + n * sizeof(float) / 55.0 / 2);
    CHECK(time(mapped, b) == time(mapped, b));
    const double first = time(managed, b);
    CHECK(first > plain + n * sizeof(float) / 9.0);
    CHECK(time(managed, b) == plain);  // it is on the device now
}

TEST_CASE("the bytes that a launch touched are told, by what it did to them") {
    using device::MemoryUse;
    const auto [threads, checks, blocks] = GENERATE(table<unsigned, device::Checks, unsigned>({
        {1, {}, 1},
        {1, {false, false, false, false}, 1},
        {2, {}, 96},
        {2, {false, false, false, false}, 96},
    }));  // the last ones on two host threads
    CAPTURE(threads, checks.race, blocks);
    Machine m(threads, vgpu::test::read_text(WG_TEST_KERNELS), 200'000'000, "h100", checks);
    const unsigned n = 32 * blocks;
    const auto in = m.upload(ramp(2 * n)), out = m.upload(ramp(n));
    m.analysis->set_exact_accesses(true);
    m.launch("load_strided", {blocks}, {32}, in, out, 2);
    std::vector<device::MemoryAccess> expected;
    for (unsigned i = 0; i < n; ++i) expected.push_back({in.address + 8 * i, 4, MemoryUse::read});
    expected.push_back({out.address, 4 * n, MemoryUse::write});
    CHECK(m.analysis->take_accesses() == expected);
    m.launch("copy_bytes", {1}, {13}, vgpu::test::Buffer<char>{in.address + 3, 0},
             vgpu::test::Buffer<char>{out.address + 70, 0});
    CHECK(m.analysis->take_accesses() == std::vector<device::MemoryAccess>{{in.address + 3, 13, MemoryUse::read},
                                                                           {out.address + 70, 13, MemoryUse::write}});
    const auto byte = m.upload(std::vector<char>(1)), copied = m.upload(std::vector<char>(1));
    m.launch("copy_bytes", {1}, {1}, byte, copied);
    CHECK(m.analysis->take_accesses() ==
          std::vector<device::MemoryAccess>{{byte.address, 1, MemoryUse::read}, {copied.address, 1, MemoryUse::write}});
    m.launch("float_atomics", {1}, {32}, in, out, 20);
    CHECK(m.analysis->take_accesses() ==
          std::vector<device::MemoryAccess>{{in.address, 80, MemoryUse::read}, {out.address, 4, MemoryUse::atomic}});
    // Without exact accesses: whole allocations, at no cost.
    m.analysis->set_exact_accesses(false);
    m.launch("copy_bytes", {1}, {13}, in, out);
    CHECK(m.analysis->take_accesses() == std::vector<device::MemoryAccess>{{in.address, 8 * n, MemoryUse::read},
                                                                           {out.address, 4 * n, MemoryUse::write}});
}

TEST_CASE("more pieces than can be told apart become larger ones") {
    Machine m;
    constexpr unsigned n = 1 << 17;
    const auto in = m.upload(ramp(2 * n)), out = m.upload(ramp(n));
    m.analysis->set_exact_accesses(true);
    m.launch("load_strided", {n / 256}, {256}, in, out, 2);
    CHECK(m.analysis->take_accesses() ==
          std::vector<device::MemoryAccess>{{in.address, 8 * n - 4, device::MemoryUse::read},
                                            {out.address, 4 * n, device::MemoryUse::write}});
}

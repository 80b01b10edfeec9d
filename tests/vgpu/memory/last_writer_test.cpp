// The last writer of each word of memory, from which the origin of outputs is derived, and what host code wrote to
// memory that it maps: the device sees it as it was when the operation began.
#include <sys/mman.h>

#include <algorithm>

#include "judge/catch.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using device::WriterTag;
namespace writer = device::writer;
using vgpu::test::Buffer;
using vgpu::test::Machine;

namespace {

Machine watched(unsigned threads = 1) {
    Machine m(threads);
    m.gpu = vgpu::make_virtual_gpu("h100", {threads, 200'000'000, 0, {}, true});
    m.analysis = m.gpu->analysis();
    const auto ptx = vgpu::test::read_text(WG_TEST_KERNELS);
    m.module = m.gpu->load_module(std::as_bytes(std::span(ptx.data(), ptx.size())));
    return m;
}

std::vector<WriterTag> writers(const Machine& m, device::DevicePtr address, std::size_t words) {
    std::vector<WriterTag> found(words);
    m.gpu->analysis()->read_writers(address, found);
    return found;
}

std::vector<int> count_to(int n) {
    std::vector<int> values(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = i;
    return values;
}

// Memory that the program maps, from the program's side.
struct Mapped {
    Mapped(Machine& m, std::size_t count, device::DevicePtr at = 0)
        : memory(m.gpu->allocate_host_visible(4 * count, at, at ? "cudaHostRegister" : "cudaHostAlloc")) {
        data = static_cast<int*>(mmap(nullptr, 4 * count, PROT_READ | PROT_WRITE, MAP_SHARED, memory.file.get(), 0));
        buffer = {memory.address, count};
    }
    device::HostVisibleMemory memory;
    int* data;
    Buffer<int> buffer;
};

}  // namespace

TEST_CASE("each word knows who wrote it last") {
    auto m = watched(GENERATE(1u, 4u));
    const int n = 5000;
    const auto in = m.upload(count_to(n));
    const Buffer<int> out{m.gpu->allocate(4 * n, "cudaMalloc"), static_cast<std::size_t>(n)};
    CHECK(writers(m, in.address, 2) == std::vector<WriterTag>{writer::host, writer::host});
    CHECK(writers(m, out.address, 1)[0] == writer::nobody);
    // The first 3000 elements, then 1000 of them again.
    const auto first = m.launch("copy", {12, 1, 1}, {256, 1, 1}, in, out, 3000);
    m.launch("copy", {4, 1, 1}, {256, 1, 1}, in, out, 1000);
    const auto who = writers(m, out.address, n);
    CHECK(who[0] == 2);
    CHECK(who[999] == 2);
    CHECK(who[1000] == 1);
    CHECK(who[2999] == 1);
    CHECK(who[3000] == writer::nobody);
    CHECK(first.read_from == std::vector<device::DevicePtr>{in.address});
    CHECK(first.written_to == std::vector<device::DevicePtr>{out.address});

    m.gpu->fill(out.address + 40, 0, 8);
    CHECK(writers(m, out.address + 36, 4) == std::vector<WriterTag>{2, writer::fill, writer::fill, 2});
    const auto copied = m.gpu->allocate(4 * n, "cudaMalloc");
    m.gpu->copy(copied, out.address, 4 * n);
    CHECK(writers(m, copied, n) == writers(m, out.address, n));

    m.gpu->analysis()->begin_call();
    CHECK(writers(m, out.address, 1)[0] == writer::nobody);
    m.launch("copy", {1, 1, 1}, {32, 1, 1}, in, out, 32);
    CHECK(writers(m, out.address, 1)[0] == 1);
}

TEST_CASE("what is written as a whole counts for every word until somebody writes to it") {
    auto m = watched();
    const int n = 3000;
    const auto ones = count_to(n);
    const auto in = m.upload(ones), out = m.upload(ones);
    m.launch("copy", {4, 1, 1}, {256, 1, 1}, in, out, 1000);
    CHECK(writers(m, out.address + 4 * 999, 2) == std::vector<WriterTag>{1, writer::host});
    const auto copied = m.gpu->allocate(4 * n, "cudaMalloc"), fresh = m.gpu->allocate(400, "cudaMalloc");
    m.gpu->fill(copied, 0, 4 * n);
    CHECK(writers(m, copied + 4 * (n - 1), 2) == std::vector<WriterTag>{writer::fill, writer::nobody});
    m.gpu->copy(copied, out.address, 4 * n);
    CHECK(writers(m, copied, n) == writers(m, out.address, n));
    m.gpu->copy(copied + 400, fresh, 400);
    CHECK(writers(m, copied + 396, 2) == std::vector<WriterTag>{1, writer::nobody});
    // A write of the whole array leaves nothing of the earlier writers.
    m.gpu->write(out.address, std::as_bytes(std::span(ones)));
    CHECK(writers(m, out.address, 1)[0] == writer::host);
    m.gpu->analysis()->begin_call();
    CHECK(writers(m, in.address, 1)[0] == writer::nobody);
}

TEST_CASE("atomics write, and read what earlier launches wrote") {
    auto m = watched();
    const auto in = m.upload(std::vector<int>(256, 3));
    const auto bins = m.upload(std::vector<int>(8, 0));
    const auto record = m.launch("histogram", {1, 1, 1}, {256, 1, 1}, in, bins, 256);
    CHECK(writers(m, bins.address, 5) ==
          std::vector<WriterTag>{writer::host, writer::host, writer::host, 1, writer::host});
    CHECK(record.read_from == std::vector<device::DevicePtr>{in.address, bins.address});
}

TEST_CASE("a launch that runs again serially leaves the writers of a serial run") {
    std::vector<std::vector<WriterTag>> seen;
    for (const unsigned threads : {1u, 4u}) {
        auto m = watched(threads);
        m.may_be_wrong = true;
        const auto d = m.upload(count_to(20000));
        m.launch("shift_in_place", {79, 1, 1}, {256, 1, 1}, d, 20000);
        seen.push_back(writers(m, d.address, 20000));
    }
    CHECK(seen[0] == seen[1]);
}

// Reads elements 0, stride, 2 * stride, … of memory that host code has filled.
TEST_CASE("what host code wrote between elements that a kernel reads goes up with them, if they are not far apart") {
    auto m = watched();
    Mapped from(m, 31 * 20'000 + 1), to(m, 32);
    const auto fill = [&](int value) { std::fill_n(from.data, from.buffer.size, value); };
    const auto used = [&](int stride) {
        m.launch("load_strided", {1, 1, 1}, {32, 1, 1}, from.buffer, to.buffer, stride);
        std::vector<std::size_t> bytes;
        for (const auto& one : m.gpu->analysis()->take_host_data()) bytes.push_back(one.bytes.size());
        return bytes;
    };
    fill(1);
    CHECK(used(8) == std::vector<std::size_t>{4 * (31 * 8 + 1)});
    CHECK(used(4).empty());  // all of it went up already
    fill(2);
    CHECK(used(1000) == std::vector<std::size_t>{4 * (31 * 1000 + 1)});
    fill(3);
    // 80,000 bytes apart: each with what lies around it, so that its place can be told.
    std::vector<std::size_t> apart(32, 256 + 4 + 256);
    apart.front() = apart.back() = 4 + 256;
    CHECK(used(20'000) == apart);
}

TEST_CASE("of registered memory only what a kernel reads goes up: its pages hold whatever else the program has there") {
    auto m = watched();
    Mapped pages(m, 1024, 0x5555'0000'0000), to(m, 32);
    std::fill_n(pages.data, 1024, 7);
    m.launch("copy", {1, 1, 1}, {32, 1, 1}, Buffer<int>{pages.buffer.address + 2048, 3}, to.buffer, 3);
    const auto used = m.gpu->analysis()->take_host_data();
    REQUIRE(used.size() == 1);
    CHECK(used[0].bytes.size() == 12);
}

TEST_CASE("what a kernel reads around changed words goes up with them, up to what a launch wrote") {
    auto m = watched();
    const int n = 64 * 1024;
    Mapped from(m, n), to(m, n);
    const auto copy_and_take = [&](const Mapped& source, const Mapped& target, int count) {
        m.launch("copy", {256, 1, 1}, {256, 1, 1}, source.buffer, target.buffer, count);
        return m.gpu->analysis()->take_host_data();
    };
    std::fill_n(from.data, n, 5);
    CHECK(copy_and_take(from, to, n).size() == 1);
    // An array of which all words but a few are as they were.
    for (const int i : {3, 90, 100}) from.data[i] = 6;
    auto used = copy_and_take(from, to, 200);
    REQUIRE(used.size() == 1);
    CHECK(used[0].address == from.buffer.address);
    CHECK(used[0].bytes.size() == 800);
    // Not all of a large one, each time that a word changes.
    from.data[n / 2] = 7;
    used = copy_and_take(from, to, n);
    REQUIRE(used.size() == 1);
    CHECK(used[0].address == from.buffer.address + 2 * n - (64 << 10));
    CHECK(used[0].bytes.size() == (64 << 10) + 4 + (64 << 10));
    CHECK(copy_and_take(from, to, n).empty());
    // What a launch wrote is no one's upload, also beside what host code changed there.
    to.data[10] = 8;
    used = copy_and_take(to, from, 20);
    REQUIRE(used.size() == 1);
    CHECK(used[0].address == to.buffer.address + 40);
    CHECK(used[0].bytes.size() == 4);
}

TEST_CASE("memory that host code maps: kernels see it as it was, and give back what they wrote") {
    auto m = watched();
    const int n = 256;
    Mapped from(m, n), to(m, n);
    for (int i = 0; i < n; ++i) from.data[i] = i, to.data[i] = -1;
    m.launch("copy", {1, 1, 1}, {256, 1, 1}, from.buffer, to.buffer, 200);
    CHECK(to.data[199] == 199);
    CHECK(to.data[200] == -1);
    CHECK(writers(m, to.buffer.address, n)[199] == 1);
    CHECK(writers(m, to.buffer.address, n)[200] == writer::host);
    // The bytes of the host that the kernel has read, once.
    const auto used = m.gpu->analysis()->take_host_data();
    REQUIRE(used.size() == 1);
    CHECK(used[0].bytes.size() == 800);
    m.launch("copy", {1, 1, 1}, {256, 1, 1}, from.buffer, to.buffer, 200);
    CHECK(m.gpu->analysis()->take_host_data().empty());
    // After host code changes a result, the host is its writer.
    to.data[7] = 1234;
    bool seen = false;
    m.gpu->analysis()->visit_host_memory([&](const device::HostMemoryView& view) {
        if (view.address != to.buffer.address) return;
        seen = true;
        CHECK(view.writers[7] == writer::host);
        CHECK(view.writers[8] == 2);
    });
    CHECK(seen);
    CHECK(m.download(to.buffer)[7] == 1234);
    // Copies and fills reach the program as well.
    m.gpu->fill(to.buffer.address, 0, 4);
    CHECK(to.data[0] == 0);
    m.gpu->copy(to.buffer.address + 4, from.buffer.address + 400, 4);
    CHECK(to.data[1] == 100);
}

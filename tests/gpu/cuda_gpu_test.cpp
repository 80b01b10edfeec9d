// A real GPU gives what a Device promises. Without a GPU, only that it says so is tested.
#include "gpu/cuda_gpu.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "device/address_space.hpp"
#include "device/fresh_memory.hpp"
#include "gpu/driver.hpp"
#include "judge/catch.hpp"
#include "support/contains.hpp"

using namespace warpgrade::device;
using warpgrade::gpu::make_cuda_gpu;

namespace {

constexpr std::uint64_t limit_bytes = std::uint64_t{256} << 20;

// Null, with a line about it, on a machine without a GPU.
std::unique_ptr<Device> open_gpu(bool take_stdout = false) {
    try {
        return make_cuda_gpu(0, {limit_bytes, take_stdout});
    } catch (const std::runtime_error& missing) {
        std::printf("skipped: %s\n", missing.what());
        return nullptr;
    }
}

std::vector<std::byte> read_kernels() {
    std::ifstream file(WG_TEST_KERNELS);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

class Program {
  public:
    explicit Program(Device& gpu) : gpu_(gpu), module_(gpu.load_module(read_kernels())) {}

    template <class T>
    DevicePtr upload(const std::vector<T>& values) {
        const DevicePtr address = gpu_.allocate(values.size() * sizeof(T), "cudaMalloc");
        gpu_.write(address, std::as_bytes(std::span(values)));
        return address;
    }
    template <class T>
    std::vector<T> download(DevicePtr address, std::size_t count) {
        std::vector<T> values(count);
        gpu_.read(address, std::as_writable_bytes(std::span(values)));
        return values;
    }
    template <class... Values>
    void launch(const char* name, const LaunchConfig& config, Values... values) {
        const FunctionId function = gpu_.find_function(module_, name);
        const FunctionInfo& info = gpu_.function_info(function);
        REQUIRE(info.params.size() == sizeof...(values));
        std::vector<std::byte> block(info.param_bytes);
        std::size_t next = 0;
        [[maybe_unused]] const auto put = [&](const auto& value) {
            REQUIRE(info.params[next].bytes == sizeof value);
            std::memcpy(block.data() + info.params[next++].offset, &value, sizeof value);
        };
        (put(values), ...);
        gpu_.launch(function, config, block);
    }
    [[nodiscard]] ModuleId module() const { return module_; }

  private:
    Device& gpu_;
    ModuleId module_;
};

LaunchConfig shape(std::uint32_t blocks, std::uint32_t threads, StreamId stream = 0) {
    LaunchConfig config;
    config.grid.x = blocks, config.block.x = threads, config.stream = stream;
    return config;
}

template <class Call>
DeviceError error_of(Call&& call) {
    try {
        call();
    } catch (const DeviceError& thrown) {
        return thrown;
    }
    return {error::success, "nothing was thrown"};
}

}  // namespace

TEST_CASE("a machine without the GPU says so in one line") {
    try {
        make_cuda_gpu(1000, {});
        FAIL("there are a thousand GPUs");
    } catch (const std::runtime_error& missing) {
        const std::string text = missing.what();
        CHECK_THAT(text, Contains("no NVIDIA GPU"));
        CHECK(text.find('\n') == std::string::npos);
    }
}

TEST_CASE("memory lies where no program has any, is never zero, and keeps what is written", "[gpu]") {
    const auto gpu = open_gpu();
    if (!gpu) return;
    const std::vector<std::uint64_t> sizes{1, 511, 4096, 3 << 20, 100 << 20};
    std::vector<DevicePtr> blocks;
    for (const std::uint64_t bytes : sizes) {
        blocks.push_back(gpu->allocate(bytes, "cudaMalloc"));
        CHECK(blocks.back() >= address_space::global_base);
        CHECK(blocks.back() + bytes <= address_space::global_end);
        CHECK(blocks.back() % 256 == 0);
        std::byte fresh{};
        gpu->read(blocks.back() + bytes - 1, {&fresh, 1});
        CHECK(fresh == std::byte{fresh_byte});
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) gpu->fill(blocks[i], static_cast<std::uint8_t>(i), sizes[i]);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        std::vector<std::byte> all(sizes[i]);
        gpu->read(blocks[i], all);
        CHECK(all == std::vector<std::byte>(sizes[i], static_cast<std::byte>(i)));
        const auto found = gpu->find_allocation(blocks[i] + sizes[i] - 1);
        REQUIRE(found);
        CHECK((found->address == blocks[i] && found->bytes == sizes[i]));
        CHECK_FALSE(gpu->find_allocation(blocks[i] + sizes[i]));
    }
    std::vector<std::byte> bytes(5 << 20);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
    gpu->write(blocks[4] + 3, bytes);
    gpu->copy(blocks[4] + (50 << 20), blocks[4] + 3, bytes.size());
    std::vector<std::byte> back(bytes.size());
    gpu->read(blocks[4] + (50 << 20), back);
    CHECK(back == bytes);
    const auto used = gpu->memory_info();
    for (const DevicePtr block : blocks) gpu->free(block);
    CHECK(gpu->memory_info().free_bytes > used.free_bytes);
    CHECK(gpu->memory_info().free_bytes == limit_bytes);
    CHECK_FALSE(gpu->find_allocation(blocks[0]));
}

TEST_CASE("what does not lie in an allocation is refused, and what does not fit too", "[gpu]") {
    const auto gpu = open_gpu();
    if (!gpu) return;
    std::vector<std::byte> bytes(100);
    const DevicePtr block = gpu->allocate(100, "cudaMalloc");
    CHECK(error_of([&] { gpu->read(block + 1, bytes); }).code == error::invalid_value);
    CHECK(error_of([&] { gpu->write(block + 1, bytes); }).code == error::invalid_value);
    CHECK(error_of([&] { gpu->fill(block - 1, 0, 1); }).code == error::invalid_value);
    CHECK(error_of([&] { gpu->copy(block, block + 50, 51); }).code == error::invalid_value);
    CHECK(error_of([&] { gpu->free(block + 1); }).code == error::invalid_value);
    CHECK(error_of([&] { gpu->allocate(limit_bytes, "cudaMalloc"); }).code == error::memory_allocation);
    CHECK(error_of([&] { gpu->allocate(~std::uint64_t{0}, "cudaMalloc"); }).code == error::memory_allocation);
    for (int i = 0; i < 100; ++i) gpu->free(gpu->allocate(limit_bytes / 2, "cudaMalloc"));  // used again
    gpu->free(block);
}

TEST_CASE("kernels compute, from parameters of all sizes, with variables and with shared memory", "[gpu]") {
    const auto gpu = open_gpu();
    if (!gpu) return;
    Program program(*gpu);
    const std::vector<float> in{1, 2, 3, 4, 5};
    const DevicePtr from = program.upload(in), to = program.upload(std::vector<float>(5));
    program.launch("scale", shape(1, 32), from, to, 5);
    CHECK(program.download<float>(to, 5) == std::vector<float>{3, 6, 9, 12, 15});
    const SymbolInfo factor = gpu->find_symbol(program.module(), "factor");
    CHECK(factor.bytes == sizeof(float));
    const float two = 2;
    gpu->write(factor.address, std::as_bytes(std::span(&two, 1)));
    program.launch("scale", shape(1, 32), from, to, 5);
    CHECK(program.download<float>(to, 5) == std::vector<float>{2, 4, 6, 8, 10});

    struct {
        char letter;
        double number;
    } odd{7, 0.5};
    const DevicePtr out = program.upload(std::vector<double>(4));
    program.launch("mixed", shape(1, 1), char{3}, odd, short{-9}, out);
    CHECK(program.download<double>(out, 4) == std::vector<double>{3, 7, 0.5, -9});

    for (int i = 0; i < 3; ++i) program.launch("count", shape(2, 5));
    CHECK(program.download<int>(gpu->find_symbol(program.module(), "counter").address, 1).at(0) == 35);

    constexpr int many = 40000;  // 160,000 bytes: more than a block has without asking
    if (gpu->properties().shared_mem_per_block_optin >= sizeof(int) * many) {
        std::vector<int> numbers(many);
        for (int i = 0; i < many; ++i) numbers[static_cast<std::size_t>(i)] = i;
        const DevicePtr data = program.upload(numbers);
        LaunchConfig config = shape(1, 256);
        config.dynamic_shared_bytes = sizeof(int) * many;
        program.launch("reverse", config, data, many);
        CHECK(program.download<int>(data, 1).at(0) == many - 1);
    }
    CHECK(error_of([&] { gpu->find_function(program.module(), "absent"); }).code == error::invalid_device_function);
    CHECK(error_of([&] { gpu->find_symbol(program.module(), "absent"); }).code == error::invalid_symbol);
}

TEST_CASE("cooperative launches meet, and must fit on the GPU", "[gpu]") {
    const auto gpu = open_gpu();
    if (!gpu) return;
    Program program(*gpu);
    const std::uint32_t blocks = gpu->properties().multi_processor_count;
    const DevicePtr arrived = program.upload(std::vector<int>{0}), seen = program.upload(std::vector<int>(blocks));
    LaunchConfig config = shape(blocks, 64);
    config.cooperative = true;
    program.launch("meet", config, arrived, seen);
    CHECK(program.download<int>(seen, blocks) == std::vector<int>(blocks, static_cast<int>(blocks)));
    config.grid.x = 1'000'000;
    const auto refused = error_of([&] { program.launch("meet", config, arrived, seen); });
    CHECK(refused.code == error::cooperative_launch_too_large);
    CHECK_FALSE(refused.sticky);
}

TEST_CASE("an impossible launch is refused, and the context goes on", "[gpu]") {
    const auto gpu = open_gpu();
    if (!gpu) return;
    Program program(*gpu);
    const DevicePtr data = program.upload(std::vector<float>(32));
    for (const auto& wrong : {shape(1, 2048), shape(0, 32), shape(1, 0)}) {
        const auto refused = error_of([&] { program.launch("scale", wrong, data, data, 32); });
        CHECK(refused.code == error::invalid_value);
        CHECK_FALSE(refused.sticky);
    }
    program.launch("scale", shape(1, 32), data, data, 32);
    gpu->synchronize_device();
    const auto function = gpu->find_function(program.module(), "scale");
    CHECK(gpu->occupancy(function, 1024, 0).blocks_per_multiprocessor == 2048 / 1024);
    CHECK(gpu->occupancy(function, 1024, 0).theoretical == 1.0);
    CHECK(gpu->function_info(function).registers_per_thread > 0);
}

TEST_CASE("what kernels print is returned once", "[gpu]") {
    const auto gpu = open_gpu(true);
    if (!gpu) return;
    std::string printed, more;
    {
        Program program(*gpu);
        program.launch("greet", shape(1, 1), 1);
        program.launch("greet", shape(1, 1), 2);
        gpu->synchronize_device();
        printed = gpu->take_output().text;
        more = gpu->take_output().text;
    }
    CHECK(printed == "hello 1\nhello 2\n");
    CHECK(more.empty());
}

TEST_CASE("streams overlap, events order them, and time is that of the GPU's work", "[gpu]") {
    const auto gpu = open_gpu();
    if (!gpu) return;
    Program program(*gpu);
    gpu->create_stream(1, false);
    gpu->create_stream(2, false);
    const DevicePtr done = program.upload(std::vector<int>{0, 0});
    gpu->finish();
    gpu->take_launch_times();
    constexpr long long cycles = 20'000'000;  // some 10 ms
    program.launch("spin", shape(1, 1, 1), cycles, done);
    CHECK_FALSE(gpu->query_stream(1));
    gpu->record_event(1, 1);
    CHECK_FALSE(gpu->query_event(1));
    program.launch("spin", shape(1, 1, 2), cycles, done + sizeof(int));
    gpu->record_event(2, 2);
    CHECK(gpu->query_event(7));  // never recorded
    gpu->wait_for_event(2, 1);
    gpu->synchronize_stream(2);
    CHECK(gpu->query_stream(1));
    CHECK(gpu->elapsed_ns(1, 2).has_value());
    const double together = gpu->finish();
    const auto each = gpu->take_launch_times();
    REQUIRE(each.size() == 2);
    CHECK(each[0].duration_ns > 1e6);
    CHECK(together < 0.75 * (each[0].duration_ns + each[1].duration_ns));
    CHECK(together >= each[0].duration_ns);
    CHECK(program.download<int>(done, 2) == std::vector<int>{1, 1});

    for (int i = 0; i < 2; ++i) program.launch("spin", shape(1, 1), cycles, done);  // one after the other
    const double ordered = gpu->finish();
    // In gigahertz, between an idle GPU and its highest clock.
    CHECK((gpu->mean_clock_ghz() > 0.1 && gpu->mean_clock_ghz() < 1.05 * gpu->properties().clock_ghz));
    CHECK(ordered > 1.5 * together);
    CHECK(gpu->finish() == 0);
    CHECK_FALSE(gpu->mean_clock_ghz());  // of no work
    gpu->destroy_stream(1);
    gpu->destroy_stream(2);
}

TEST_CASE("memory that the program maps is the GPU's at the same address", "[gpu]") {
    const auto gpu = open_gpu();
    if (!gpu) return;
    Program program(*gpu);
    constexpr std::size_t count = 5000;
    const HostVisibleMemory memory = gpu->allocate_host_visible(count * sizeof(float), 0, "cudaMallocHost");
    CHECK(memory.address >= address_space::host_base);
    CHECK(gpu->lies_on_host(memory.address));
    // The program's own mapping, elsewhere because this process is both sides.
    void* const mapped = ::mmap(nullptr, memory.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.file.get(), 0);
    REQUIRE(mapped != MAP_FAILED);
    auto* const values = static_cast<float*>(mapped);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
    const DevicePtr out = program.upload(std::vector<float>(count));
    program.launch("scale", shape(20, 256), memory.address, out, static_cast<int>(count));
    CHECK(program.download<float>(out, count).back() == 3.0f * (count - 1));
    REQUIRE(gpu->copies_host_memory());
    gpu->copy(memory.address, out, count * sizeof(float));
    gpu->synchronize_device();
    CHECK(values[count - 1] == 3.0f * (count - 1));
    CHECK(gpu->finish() > 0);
    gpu->free(memory.address);
    ::munmap(mapped, memory.bytes);
}

TEST_CASE("device code that is cut off or is none is refused", "[gpu]") {
    const auto gpu = open_gpu();
    if (!gpu) return;
    const std::vector<std::byte> nothing, noise(4096, std::byte{0x5A});
    CHECK(error_of([&] { gpu->load_module(nothing); }).code == error::device_kernel_image_is_invalid);
    CHECK(error_of([&] { gpu->load_module(noise); }).code != error::success);
    std::vector<std::byte> container(64);
    const std::uint32_t magic = 0xBA55ED50;
    const std::uint64_t huge = std::uint64_t{1} << 40;
    const std::uint16_t header_bytes = 16;
    std::memcpy(container.data(), &magic, sizeof magic);
    std::memcpy(container.data() + 6, &header_bytes, sizeof header_bytes);
    std::memcpy(container.data() + 8, &huge, sizeof huge);
    CHECK(error_of([&] { gpu->load_module(container); }).code == error::device_kernel_image_is_invalid);
    const ModuleId module = gpu->load_module(read_kernels());
    gpu->unload_module(module);
    CHECK(error_of([&] { gpu->unload_module(module); }).code == error::invalid_resource_handle);
}

// The last one: after a fault, this process can use the GPU no more.
TEST_CASE("a kernel's fault shows where the host waits, names the kernel, and ends the context", "[gpu]") {
    const auto gpu = open_gpu();
    if (!gpu) return;
    Program program(*gpu);
    program.launch("fault", shape(1, 1), DevicePtr{0});
    const auto first = error_of([&] { gpu->synchronize_device(); });
    CHECK(first.code == error::illegal_address);
    CHECK(first.sticky);
    CHECK_THAT(std::string(first.what()), Contains("'fault'"));
    CHECK(error_of([&] { gpu->allocate(1, "cudaMalloc"); }).sticky);
    CHECK(error_of([&] { gpu->finish(); }).sticky);
    CHECK(gpu->take_launch_times().empty());  // unknown, not zero
}

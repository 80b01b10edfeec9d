#include "device/fake_device.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace warpgrade::device::testing {

namespace {

DeviceProperties fake_properties() {
    DeviceProperties properties;
    properties.name = "Fake H100";
    properties.profile = "fake";
    properties.major = 9;
    properties.multi_processor_count = 4;
    properties.max_threads_per_block = 1024;
    properties.max_threads_per_multi_processor = 2048;
    properties.shared_mem_per_block = 49152;
    properties.shared_mem_per_block_optin = 232448;
    properties.total_global_mem = std::uint64_t{1} << 30;
    properties.max_threads_dim = {1024, 1024, 64};
    properties.max_grid_size = {2147483647, 65535, 65535};
    properties.dram_bytes_per_ns = 100;
    return properties;
}

}  // namespace

FakeDevice::FakeDevice() : ClockedDevice(vgpu::HostCosts::of(fake_properties())), properties_(fake_properties()) {
    add_kernels();
}

void FakeDevice::add_kernels() {
    const auto params = [](std::vector<ParamInfo> list) {
        FunctionInfo info;
        info.params = std::move(list);
        for (const ParamInfo& param : info.params)
            info.param_bytes = std::max(info.param_bytes, param.offset + param.bytes);
        info.registers_per_thread = 32;
        info.max_threads_per_block = 1024;
        info.ptx_version = info.binary_version = 90;
        return info;
    };
    kernels_["vecadd"] = {params({{0, 8}, {8, 8}, {16, 8}, {24, 4}}), [](const Run& run) {
                              const auto n = run.param<int>(24);
                              const auto* a = run.device.array<float>(run.param<DevicePtr>(0), n);
                              const auto* b = run.device.array<float>(run.param<DevicePtr>(8), n);
                              auto* c = run.device.array<float>(run.param<DevicePtr>(16), n);
                              for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
                          }};
    kernels_["scale"] = {params({{0, 8}, {8, 4}}), [](const Run& run) {
                             const auto n = run.param<int>(8);
                             auto* x = run.device.array<float>(run.param<DevicePtr>(0), n);
                             const DevicePtr factor = run.device.modules_.begin()->second.at("factor");
                             for (int i = 0; i < n; ++i) x[i] *= *run.device.array<float>(factor, 1);
                         }};
    kernels_["reverse"] = {params({{0, 8}, {8, 4}}), [](const Run& run) {
                               const auto n = run.param<int>(8);
                               if (run.config.dynamic_shared_bytes < n * sizeof(int))
                                   throw DeviceError(error::illegal_address, "shared memory is too small", true);
                               auto* x = run.device.array<int>(run.param<DevicePtr>(0), n);
                               std::reverse(x, x + n);
                           }};
    kernels_["store_to"] = {params({{0, 8}}),
                            [](const Run& run) { *run.device.array<int>(run.param<DevicePtr>(0), 1) = 1; }};
    kernels_["say"] = {params({{0, 4}}), [](const Run& run) {
                           run.device.output_ += "said " + std::to_string(run.param<int>(0)) + "\n";
                       }};
}

std::byte* FakeDevice::at(DevicePtr address, std::uint64_t bytes) {
    auto after = memory_.upper_bound(address);
    if (after != memory_.begin()) {
        --after;
        const std::uint64_t offset = address - after->first;
        if (offset <= after->second.size() && bytes <= after->second.size() - offset)
            return after->second.data() + offset;
    }
    throw DeviceError(error::illegal_address, "nothing is allocated there", true);
}

DevicePtr FakeDevice::allocate(std::uint64_t bytes, AllocationOrigin origin) {
    if (bytes > properties_.total_global_mem - used_) throw DeviceError(error::memory_allocation, "out of memory");
    const DevicePtr address = next_address_;
    next_address_ += (bytes + 511) / 256 * 256;
    used_ += bytes;
    memory_.try_emplace(address, bytes);
    known_[address] = {{std::string(origin.call), false, bytes, {"", 0, origin.code}, origin.kind}, address, false, {}};
    return address;
}

DevicePtr FakeDevice::reserve(std::uint64_t bytes, AllocationOrigin origin) {
    const DevicePtr address = allocate(bytes, origin);
    free(address, origin.code);
    return address;
}

void FakeDevice::allocate_at(DevicePtr address, std::uint64_t bytes, AllocationOrigin) {
    if (!memory_.try_emplace(address, bytes).second) throw DeviceError(error::invalid_value, "still allocated");
    used_ += bytes;
    known_[address].freed = false;
}

FakeDevice::Bytes::Bytes(std::uint64_t size, const Descriptor& file) {
    void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (data == MAP_FAILED) throw DeviceError(error::memory_allocation, "no mapping");
    data_ = {static_cast<std::byte*>(data), size};
}

FakeDevice::Bytes::~Bytes() {
    if (own_.empty() && !data_.empty()) ::munmap(data_.data(), data_.size());
}

HostVisibleMemory FakeDevice::allocate_host_visible(std::uint64_t bytes, DevicePtr at, AllocationOrigin origin) {
    if (bytes > properties_.total_global_mem - used_) throw DeviceError(error::memory_allocation, "out of memory");
    const DevicePtr address = at ? at : next_host_;
    if (!at) next_host_ += (bytes + 8191) / 4096 * 4096;
    if (find_allocation(address)) throw DeviceError(error::invalid_value, "already shared");
    used_ += bytes;
    known_[address] = {{std::string(origin.call), false, bytes, {"", 0, origin.code}, origin.kind}, address, false, {}};
    Descriptor file(::memfd_create("fake", MFD_CLOEXEC));
    if (::ftruncate(file.get(), static_cast<off_t>((bytes + 4095) / 4096 * 4096)) != 0)
        throw DeviceError(error::memory_allocation, "no file");
    memory_.try_emplace(address, bytes, file);
    return {address, bytes, std::move(file)};
}

void FakeDevice::free(DevicePtr address, std::uint64_t code) {
    known_[address].freed = true;
    known_[address].freed_at.code = code;
    used_ -= memory_.at(address).size();
    memory_.erase(address);
}

std::optional<SymbolInfo> FakeDevice::find_allocation(DevicePtr address) const {
    auto after = memory_.upper_bound(address);
    if (after == memory_.begin()) return std::nullopt;
    --after;
    if (address - after->first >= after->second.size()) return std::nullopt;
    return SymbolInfo{after->first, after->second.size()};
}

std::optional<FoundMemory> FakeDevice::find_memory(DevicePtr address) const {
    auto after = known_.upper_bound(address);
    if (after == known_.begin()) return std::nullopt;
    --after;
    if (address - after->first >= after->second.place.bytes) return std::nullopt;
    return after->second;
}

ModuleId FakeDevice::load_module(std::span<const std::byte> image) {
    last_image.assign(image.begin(), image.end());
    loaded(image.size());
    if (image.empty()) throw DeviceError(error::device_kernel_image_is_invalid, "an empty module");
    modules_[next_module_]["factor"] = allocate(sizeof(float), "module");
    return next_module_++;
}

void FakeDevice::unload_module(ModuleId module) {
    for (const auto& [name, address] : modules_.at(module)) free(address);
    modules_.erase(module);
}

FunctionId FakeDevice::find_function(ModuleId, std::string_view name) {
    for (const auto& [part, function] : kernels_)
        if (name.find(part) != std::string_view::npos) {
            functions_.push_back(function);
            functions_.back().info.name = name;
            return static_cast<FunctionId>(functions_.size() - 1);
        }
    throw DeviceError(error::invalid_device_function, "no such kernel");
}

SymbolInfo FakeDevice::find_symbol(ModuleId module, std::string_view name) {
    const auto found = modules_.at(module).find(name);
    if (found == modules_.at(module).end()) throw DeviceError(error::invalid_symbol, "no such variable");
    return {found->second, memory_.at(found->second).size()};
}

void FakeDevice::launch(FunctionId id, const LaunchConfig& config, std::span<const std::byte> params) {
    const Function& function = functions_.at(id);
    if (config.grid.count() == 0 || config.block.count() == 0 || config.block.count() > 1024)
        throw DeviceError(error::invalid_configuration, "a launch that no device can run");
    if (config.cooperative && config.grid.count() > 64)
        throw DeviceError(error::cooperative_launch_too_large, "the blocks do not fit all at once");
    LaunchRecord record;
    record.kernel = record.demangled = function.info.name;
    record.config = config;
    record.occupancy = occupancy(id, static_cast<std::uint32_t>(config.block.count()), 0);
    const double duration_ns = block_ns * static_cast<double>(config.grid.count());
    vgpu::Demand demand{};
    if (needs_all_of_dram) demand[static_cast<std::size_t>(vgpu::Resource::dram)] = duration_ns;
    place(record, duration_ns, demand);
    record.counters.emplace().blocks_launched = config.grid.count();
    try {
        function.body({config, params, *this});
    } catch (const DeviceError& failure) {
        record.error_code = failure.code;
        record.error = failure.what();
        records_.push_back(record);
        throw;
    }
    records_.push_back(record);
}

}  // namespace warpgrade::device::testing

// A device without a GPU: memory is a map, and kernels are C++ functions that are found by a part of the mangled name
// (vecadd, reverse, store_to, …), so that programs compiled by nvcc run on it too.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/address_space.hpp"
#include "device/device.hpp"
#include "vgpu/model/clocked_device.hpp"

namespace warpgrade::device::testing {

class FakeDevice : public vgpu::ClockedDevice {
  public:
    FakeDevice();

    const DeviceProperties& properties() const override { return properties_; }
    MemoryInfo memory_info() const override {
        return {properties_.total_global_mem - used_, properties_.total_global_mem};
    }
    using Device::free;
    DevicePtr allocate(std::uint64_t bytes, AllocationOrigin origin) override;
    HostVisibleMemory allocate_host_visible(std::uint64_t bytes, DevicePtr at, AllocationOrigin origin) override;
    void free(DevicePtr address, std::uint64_t code) override;
    DevicePtr reserve(std::uint64_t bytes, AllocationOrigin origin) override;
    void allocate_at(DevicePtr address, std::uint64_t bytes, AllocationOrigin origin) override;
    void write(DevicePtr destination, std::span<const std::byte> source) override {
        std::memcpy(at(destination, source.size()), source.data(), source.size());
    }
    void read(DevicePtr source, std::span<std::byte> destination) override {
        if (breaks) throw DeviceError(error::launch_failure, "a kernel before it failed", true);
        std::memcpy(destination.data(), at(source, destination.size()), destination.size());
    }
    using Device::copy;
    void copy(DevicePtr destination, DevicePtr source, std::uint64_t bytes, std::uint64_t /*code*/) override {
        std::memmove(at(destination, bytes), at(source, bytes), bytes);
    }
    void fill(DevicePtr destination, std::uint8_t value, std::uint64_t bytes) override {
        std::memset(at(destination, bytes), value, bytes);
    }
    std::optional<SymbolInfo> find_allocation(DevicePtr address) const override;
    std::optional<FoundMemory> find_memory(DevicePtr address) const override;
    ModuleId load_module(std::span<const std::byte> image) override;
    void unload_module(ModuleId module) override;
    FunctionId find_function(ModuleId module, std::string_view name) override;
    const FunctionInfo& function_info(FunctionId function) const override { return functions_.at(function).info; }
    SymbolInfo find_symbol(ModuleId module, std::string_view name) override;
    void launch(FunctionId function, const LaunchConfig& config, std::span<const std::byte> params) override;
    Occupancy occupancy(FunctionId, std::uint32_t block_threads, std::uint64_t) const override {
        return {2048 / block_threads, 1.0, 0.0, "warps"};
    }
    std::vector<LaunchRecord> take_records() override {
        if (forgets_launches) records_.clear();
        return std::exchange(records_, {});
    }
    PrintedText take_output() override { return {std::exchange(output_, {})}; }
    std::vector<MemoryAccess> take_accesses() override { return std::exchange(next_accesses, {}); }
    void set_exact_accesses(bool exactly) override { exact_accesses = exactly; }
    bool talks_to_host(FunctionId) const override { return kernels_talk_to_host; }
    bool lies_on_host(DevicePtr address) const override { return on_host.contains(address); }
    ImageId create_image(const ImageDescriptor&) override { return next_image_++; }
    void destroy_image(ImageId) override {}

    std::vector<std::byte> last_image;
    std::vector<MemoryAccess> next_accesses;  // of the next launch
    bool exact_accesses = false;
    std::set<DevicePtr> on_host;  // managed memory that no kernel has touched
    bool kernels_talk_to_host = false, forgets_launches = false;
    bool breaks = false;             // the next copy to the host says so, as that of a device that works by itself
    double block_ns = 1000;          // what each takes, one after the other
    bool needs_all_of_dram = false;  // launches from now on
    std::size_t live_allocations() const { return memory_.size(); }

  private:
    struct Run {
        const LaunchConfig& config;
        std::span<const std::byte> params;
        FakeDevice& device;
        template <class T>
        T param(std::size_t offset) const {
            T value;
            std::memcpy(&value, params.subspan(offset).data(), sizeof value);
            return value;
        }
    };
    struct Function {
        FunctionInfo info;
        std::function<void(const Run&)> body;
    };

    std::byte* at(DevicePtr address, std::uint64_t bytes);
    template <class T>
    T* array(DevicePtr address, std::uint64_t count) {
        return reinterpret_cast<T*>(at(address, count * sizeof(T)));
    }
    void add_kernels();

    DeviceProperties properties_;
    // Bytes of the device alone, or of a file that the program maps too.
    class Bytes {
      public:
        explicit Bytes(std::uint64_t size) : own_(size), data_(own_) {}
        Bytes(std::uint64_t size, const Descriptor& file);
        ~Bytes();
        Bytes(const Bytes&) = delete;
        Bytes& operator=(const Bytes&) = delete;
        [[nodiscard]] std::byte* data() const { return data_.data(); }
        [[nodiscard]] std::size_t size() const { return data_.size(); }

      private:
        std::vector<std::byte> own_;
        std::span<std::byte> data_;
    };
    std::map<DevicePtr, Bytes> memory_;
    std::map<DevicePtr, FoundMemory> known_;  // live and freed
    std::map<ModuleId, std::map<std::string, DevicePtr, std::less<>>> modules_;
    std::map<std::string, Function> kernels_;  // by the part of the mangled name
    std::vector<Function> functions_;
    std::vector<LaunchRecord> records_;
    std::string output_;
    std::uint64_t used_ = 0;
    DevicePtr next_address_ = address_space::global_base, next_host_ = address_space::host_base;
    ModuleId next_module_ = 1;
    ImageId next_image_ = 1;
};

}  // namespace warpgrade::device::testing

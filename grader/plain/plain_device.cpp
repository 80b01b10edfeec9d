#include "plain/plain_device.hpp"

#include <utility>

#include "device/analysis.hpp"

namespace warpgrade::plain {
namespace {

using namespace device;

class PlainDevice final : public Device {
  public:
    explicit PlainDevice(std::unique_ptr<Device> inner) : inner_(std::move(inner)) {}

    [[nodiscard]] const DeviceProperties& properties() const override { return inner_->properties(); }
    [[nodiscard]] MemoryInfo memory_info() const override { return inner_->memory_info(); }

    using Device::free;
    DevicePtr allocate(std::uint64_t bytes, AllocationOrigin origin) override {
        return inner_->allocate(bytes, origin);
    }
    std::vector<ChildLaunch> take_children() override { return inner_->take_children(); }
    DevicePtr reserve(std::uint64_t bytes, AllocationOrigin origin) override { return inner_->reserve(bytes, origin); }
    void allocate_at(DevicePtr address, std::uint64_t bytes, AllocationOrigin origin) override {
        inner_->allocate_at(address, bytes, origin);
    }
    void free(DevicePtr address, std::uint64_t code) override { inner_->free(address, code); }
    HostVisibleMemory allocate_host_visible(std::uint64_t bytes, DevicePtr at, AllocationOrigin origin) override {
        return inner_->allocate_host_visible(bytes, at, origin);
    }
    void write(DevicePtr to, std::span<const std::byte> from) override { inner_->write(to, from); }
    void read(DevicePtr from, std::span<std::byte> to) override { inner_->read(from, to); }
    using Device::copy;
    void copy(DevicePtr to, DevicePtr from, std::uint64_t bytes, std::uint64_t code) override {
        inner_->copy(to, from, bytes, code);
    }
    void fill(DevicePtr to, std::uint8_t value, std::uint64_t bytes) override { inner_->fill(to, value, bytes); }
    [[nodiscard]] std::optional<SymbolInfo> find_allocation(DevicePtr at) const override {
        return inner_->find_allocation(at);
    }
    [[nodiscard]] bool lies_on_host(DevicePtr address) const override { return inner_->lies_on_host(address); }

    ImageId create_image(const ImageDescriptor& image) override { return inner_->create_image(image); }
    void destroy_image(ImageId image) override { inner_->destroy_image(image); }

    ModuleId load_module(std::span<const std::byte> image) override { return inner_->load_module(image); }
    void unload_module(ModuleId module) override { inner_->unload_module(module); }
    FunctionId find_function(ModuleId module, std::string_view name) override {
        return inner_->find_function(module, name);
    }
    [[nodiscard]] const FunctionInfo& function_info(FunctionId function) const override {
        return inner_->function_info(function);
    }
    [[nodiscard]] std::string readable_name(FunctionId function) const override {
        return inner_->readable_name(function);
    }
    SymbolInfo find_symbol(ModuleId module, std::string_view name) override {
        return inner_->find_symbol(module, name);
    }
    HostVisibleMemory share_symbol(ModuleId module, std::string_view name) override {
        return inner_->share_symbol(module, name);
    }

    void launch(FunctionId function, const LaunchConfig& config, std::span<const std::byte> params) override {
        try {
            inner_->launch(function, config, params);
        } catch (...) {
            forget();
            throw;
        }
        forget();
    }
    [[nodiscard]] Occupancy occupancy(FunctionId function, std::uint32_t block_threads,
                                      std::uint64_t dynamic_shared_bytes) const override {
        return inner_->occupancy(function, block_threads, dynamic_shared_bytes);
    }
    device::PrintedText take_output() override { return inner_->take_output(); }
    std::uint64_t set_limit(Limit limit, std::uint64_t bytes) override { return inner_->set_limit(limit, bytes); }

    void create_stream(StreamId stream, bool blocking) override { inner_->create_stream(stream, blocking); }
    void destroy_stream(StreamId stream) override { inner_->destroy_stream(stream); }
    bool query_stream(StreamId stream) override { return inner_->query_stream(stream); }
    void synchronize_stream(StreamId stream) override { inner_->synchronize_stream(stream); }
    void record_event(EventId event, StreamId stream) override { inner_->record_event(event, stream); }
    void wait_for_event(StreamId stream, EventId event) override { inner_->wait_for_event(stream, event); }
    bool query_event(EventId event) override { return inner_->query_event(event); }
    void synchronize_event(EventId event) override { inner_->synchronize_event(event); }
    void forget_event(EventId event) override { inner_->forget_event(event); }
    std::optional<double> elapsed_ns(EventId start, EventId end) override { return inner_->elapsed_ns(start, end); }
    void synchronize_device() override { inner_->synchronize_device(); }
    void drain() override { inner_->drain(); }
    void schedule_transfer(const TransferTime& transfer) override { inner_->schedule_transfer(transfer); }
    double finish() override {
        if (Analysis* analysis = inner_->analysis()) analysis->take_transfers(), analysis->take_waits();
        return inner_->finish();
    }

  private:
    // Drops the records, which would accumulate.
    void forget() {
        if (Analysis* analysis = inner_->analysis())
            analysis->take_records(), analysis->take_diagnostics(), analysis->take_accesses();
    }
    std::unique_ptr<Device> inner_;
};

}  // namespace

std::unique_ptr<device::Device> make_plain(std::unique_ptr<device::Device> analysed) {
    return std::make_unique<PlainDevice>(std::move(analysed));
}

}  // namespace warpgrade::plain

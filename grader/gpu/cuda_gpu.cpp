#include "gpu/cuda_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "device/fresh_memory.hpp"
#include "device/protocol.hpp"
#include "gpu/device_memory.hpp"
#include "gpu/driver.hpp"
#include "gpu/managed_variables.hpp"
#include "gpu/module.hpp"
#include "gpu/printed_output.hpp"
#include "gpu/staging.hpp"
#include "gpu/work_times.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::gpu {
namespace {

using namespace device;

// One GPU's context, current in this thread from here on.
class Context {
  public:
    explicit Context(unsigned which) {
        const Driver& cuda = driver();
        const CUresult started = cuda.cuInit(0);
        int count = 0;
        if (started == CUDA_SUCCESS) cuda.cuDeviceGetCount(&count);
        if (count == 0)
            throw std::runtime_error(
                fmt::format("no NVIDIA GPU: {}", error_text(started == CUDA_SUCCESS ? CUDA_ERROR_NO_DEVICE : started)));
        if (which >= static_cast<unsigned>(count))
            throw std::runtime_error(
                fmt::format("no NVIDIA GPU with number {}: this machine has {}, counted from 0", which, count));
        CUcontext context = nullptr;
        CUresult opened = cuda.cuDeviceGet(&gpu, static_cast<int>(which));
        if (opened == CUDA_SUCCESS) opened = cuda.cuDevicePrimaryCtxRetain(&context, gpu);
        if (opened == CUDA_SUCCESS) opened = cuda.cuCtxSetCurrent(context);
        if (opened != CUDA_SUCCESS)
            throw std::runtime_error(
                fmt::format("the NVIDIA GPU with number {} cannot be used: {}", which, error_text(opened)));
    }
    ~Context() { driver().cuDevicePrimaryCtxRelease(gpu); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    CUdevice gpu = 0;
};

DeviceProperties describe(CUdevice gpu) {
    const auto attribute = [gpu](CUdevice_attribute which) {
        int value = 0;
        check(driver().cuDeviceGetAttribute(&value, which, gpu), "an attribute of the GPU");
        return static_cast<std::uint32_t>(value);
    };
    const auto dimensions = [&](CUdevice_attribute x, CUdevice_attribute y, CUdevice_attribute z) {
        return Dim3{attribute(x), attribute(y), attribute(z)};
    };
    DeviceProperties p;
    char name[256] = {};
    std::size_t memory_bytes = 0;
    check(driver().cuDeviceGetName(name, sizeof name, gpu), "the GPU's name");
    check(driver().cuDeviceTotalMem(&memory_bytes, gpu), "the GPU's memory");
    p.name = name;
    p.major = static_cast<int>(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
    p.minor = static_cast<int>(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    p.warp_size = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    p.multi_processor_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    p.max_threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    p.max_threads_per_multi_processor = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    p.max_blocks_per_multi_processor = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    p.regs_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    p.regs_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    p.shared_mem_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    p.shared_mem_per_block_optin = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    p.shared_mem_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    p.reserved_shared_mem_per_block = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    p.total_global_mem = memory_bytes;
    p.total_const_mem = attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    p.l2_cache_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    p.max_threads_dim = dimensions(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                   CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    p.max_grid_size = dimensions(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                 CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    p.clock_ghz = 1e-6 * attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    p.memory_clock_ghz = 1e-6 * attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    p.memory_bus_bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    p.dram_bytes_per_ns = 2 * p.memory_clock_ghz * p.memory_bus_bits / 8;
    return p;
}

class CudaGpu final : public Device {
  public:
    CudaGpu(unsigned which, const CudaGpuOptions& options)
        : context_(which),
          properties_(describe(context_.gpu)),
          memory_(context_.gpu, options.memory_limit_bytes
                                    ? std::min(options.memory_limit_bytes, properties_.total_global_mem)
                                    : properties_.total_global_mem),
          modules_(memory_),
          times_(properties_.l2_cache_bytes, properties_.multi_processor_count),
          take_stdout_(options.take_stdout) {
        check(cuda_.cuStreamCreate(&own_stream_, CU_STREAM_NON_BLOCKING), "a stream");
    }
    ~CudaGpu() override {
        cuda_.cuCtxSynchronize();
        for (const auto& [id, event] : events_) cuda_.cuEventDestroy(event);
        for (const auto& [id, stream] : streams_)
            if (stream) cuda_.cuStreamDestroy(stream);
        cuda_.cuStreamDestroy(own_stream_);
    }

    [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }
    [[nodiscard]] MemoryInfo memory_info() const override { return memory_.info(); }

    using Device::free;
    DevicePtr allocate(std::uint64_t bytes, AllocationOrigin /*origin*/) override {
        const DevicePtr address = memory_.allocate(bytes);
        if (bytes > 0) {
            check(cuda_.cuMemsetD8Async(address, fresh_byte, bytes, own_stream_), "allocating device memory");
            check(cuda_.cuStreamSynchronize(own_stream_), "allocating device memory");
        }
        return address;
    }
    HostVisibleMemory allocate_host_visible(std::uint64_t bytes, DevicePtr at, AllocationOrigin /*origin*/) override {
        return memory_.allocate_host_visible(bytes, at);
    }
    // The memory may be given out again at once, so nothing may still use it.
    void free(DevicePtr address, std::uint64_t /*code*/) override {
        synchronize_device();
        memory_.free(address);
    }

    void set_transfer_stream(StreamId stream) override { transfer_stream_ = stream_of(stream); }
    [[nodiscard]] bool copies_host_memory() const override { return true; }
    void write(DevicePtr destination, std::span<const std::byte> source) override {
        memory_.require(destination, source.size(), "copy to the device");
        if (memory_.lies_on_host(destination)) return write_host(destination, source);
        staging_.write(source, transfer_stream_, [&](std::size_t offset, const void* from, std::size_t bytes) {
            timed("copy to the device",
                  [&](CUstream stream) { return cuda_.cuMemcpyHtoDAsync(destination + offset, from, bytes, stream); });
        });
    }
    void read(DevicePtr source, std::span<std::byte> destination) override {
        memory_.require(source, destination.size(), "copy from the device");
        staging_.read(destination, [&](std::size_t offset, void* to, std::size_t bytes) {
            timed("copy from the device",
                  [&](CUstream stream) { return cuda_.cuMemcpyDtoHAsync(to, source + offset, bytes, stream); });
            wait(cuda_.cuStreamSynchronize(transfer_stream_));
        });
    }
    using Device::copy;
    void copy(DevicePtr destination, DevicePtr source, std::uint64_t bytes, std::uint64_t /*code*/) override {
        memory_.require(destination, bytes, "copy on the device, destination");
        memory_.require(source, bytes, "copy on the device, source");
        if (bytes == 0) return;
        timed("copy on the device",
              [&](CUstream stream) { return cuda_.cuMemcpyAsync(destination, source, bytes, stream); });
    }
    void fill(DevicePtr destination, std::uint8_t value, std::uint64_t bytes) override {
        memory_.require(destination, bytes, "memset");
        if (bytes == 0) return;
        timed("memset", [&](CUstream stream) { return cuda_.cuMemsetD8Async(destination, value, bytes, stream); });
    }
    void schedule_transfer(const TransferTime& transfer) override {
        if (transfer.blocking) synchronize_stream(transfer.stream);
    }
    [[nodiscard]] std::optional<SymbolInfo> find_allocation(DevicePtr address) const override {
        return memory_.find(address);
    }
    [[nodiscard]] bool lies_on_host(DevicePtr address) const override { return memory_.lies_on_host(address); }

    ModuleId load_module(std::span<const std::byte> image) override {
        if (take_stdout_ && !output_) output_.emplace();
        return modules_.load(image);
    }
    void unload_module(ModuleId module) override {
        synchronize_device();
        managed_.forget(module);
        modules_.unload(module);
    }
    FunctionId find_function(ModuleId module, std::string_view name) override {
        return modules_.find_function(module, name);
    }
    [[nodiscard]] const FunctionInfo& function_info(FunctionId function) const override {
        return modules_.kernel(function).info;
    }
    [[nodiscard]] std::string readable_name(FunctionId function) const override {
        return vgpu::readable_name(function_info(function).name);
    }
    SymbolInfo find_symbol(ModuleId module, std::string_view name) override {
        return modules_.find_symbol(module, name);
    }

    HostVisibleMemory share_symbol(ModuleId module, std::string_view name) override {
        return managed_.share(module, name);
    }

    void launch(FunctionId function, const LaunchConfig& config, std::span<const std::byte> params) override;
    [[nodiscard]] Occupancy occupancy(FunctionId function, std::uint32_t block_threads,
                                      std::uint64_t dynamic_shared_bytes) const override {
        int blocks = 0;
        if (block_threads <= properties_.max_threads_per_block)
            check(cuda_.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                      &blocks, modules_.kernel(function).handle, static_cast<int>(block_threads), dynamic_shared_bytes),
                  "occupancy");
        const auto resident = static_cast<std::uint32_t>(blocks);
        const std::uint32_t warps = resident * ((block_threads + properties_.warp_size - 1) / properties_.warp_size);
        const std::uint32_t most = properties_.max_threads_per_multi_processor / properties_.warp_size;
        return {resident, static_cast<double>(warps) / most, 0, ""};
    }
    PrintedText take_output() override { return output_ ? output_->take() : PrintedText{}; }
    std::uint64_t set_limit(Limit limit, std::uint64_t bytes) override {
        constexpr CUlimit limits[] = {CU_LIMIT_STACK_SIZE, CU_LIMIT_PRINTF_FIFO_SIZE, CU_LIMIT_MALLOC_HEAP_SIZE};
        const CUlimit which = limits[static_cast<std::size_t>(limit)];
        std::size_t now = 0;
        check(cuda_.cuCtxSetLimit(which, bytes), "a limit of the device");
        check(cuda_.cuCtxGetLimit(&now, which), "a limit of the device");
        return now;
    }

    void create_stream(StreamId stream, bool blocking) override {
        check(cuda_.cuStreamCreate(&streams_[stream], blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING),
              "a stream");
    }
    void destroy_stream(StreamId stream) override {
        const CUstream destroyed = stream_of(stream);
        if (transfer_stream_ == destroyed) transfer_stream_ = nullptr;
        streams_.erase(stream);
        check(cuda_.cuStreamDestroy(destroyed), "destroying a stream");
    }
    bool query_stream(StreamId stream) override { return done(cuda_.cuStreamQuery(stream_of(stream))); }
    void synchronize_stream(StreamId stream) override { wait(cuda_.cuStreamSynchronize(stream_of(stream))); }
    void record_event(EventId event, StreamId stream) override {
        CUevent& recorded = events_[event];
        if (!recorded) check(cuda_.cuEventCreate(&recorded, CU_EVENT_DEFAULT), "an event");
        check(cuda_.cuEventRecord(recorded, stream_of(stream)), "recording an event");
    }
    void wait_for_event(StreamId stream, EventId event) override {
        if (const CUevent recorded = find_event(event))
            check(cuda_.cuStreamWaitEvent(stream_of(stream), recorded, 0), "waiting for an event");
    }
    bool query_event(EventId event) override {
        const CUevent recorded = find_event(event);
        return !recorded || done(cuda_.cuEventQuery(recorded));
    }
    void synchronize_event(EventId event) override {
        if (const CUevent recorded = find_event(event)) wait(cuda_.cuEventSynchronize(recorded));
    }
    void forget_event(EventId event) override {
        if (const CUevent recorded = find_event(event)) cuda_.cuEventDestroy(recorded);
        events_.erase(event);
    }
    std::optional<double> elapsed_ns(EventId start, EventId end) override {
        float milliseconds = 0;
        const CUresult result = cuda_.cuEventElapsedTime(&milliseconds, find_event(start), find_event(end));
        if (!done(result)) return std::nullopt;
        return 1e6 * double{milliseconds};
    }
    void synchronize_device() override { wait(cuda_.cuCtxSynchronize()); }
    void drain() override { synchronize_device(); }
    double finish() override {
        const CUresult waited = cuda_.cuCtxSynchronize();
        const double time_ns = times_.finish();
        wait(waited);
        return time_ns;
    }
    [[nodiscard]] std::optional<double> mean_clock_ghz() const override { return times_.mean_clock_ghz(); }
    std::vector<LaunchTime> take_launch_times() override { return times_.take_launches(); }

  private:
    [[nodiscard]] CUstream stream_of(StreamId id) const {
        const auto found = streams_.find(id);
        if (found == streams_.end()) throw DeviceError(error::invalid_resource_handle, "no such stream");
        return found->second;
    }
    [[nodiscard]] CUevent find_event(EventId id) const {
        const auto found = events_.find(id);
        return found == events_.end() ? nullptr : found->second;
    }
    // A fault that shows now may be any earlier kernel's.
    void wait(CUresult result) {
        check(result, last_kernel_.empty()
                          ? "waiting for the device"
                          : fmt::format("kernel '{}', or one that was launched before it", last_kernel_));
        managed_.carry_to_host();
    }
    [[nodiscard]] bool done(CUresult result) {
        if (result == CUDA_ERROR_NOT_READY) return false;
        wait(result);
        return true;
    }
    void write_host(DevicePtr destination, std::span<const std::byte> source) {
        wait(cuda_.cuStreamSynchronize(transfer_stream_));
        std::memcpy(reinterpret_cast<void*>(destination), source.data(), source.size());
    }
    template <class Issue>
    void timed(const char* what, Issue&& issue) {
        check(times_.run(WorkTimes::Kind::transfer, transfer_stream_, issue), what);
    }

    const Driver& cuda_ = driver();
    Context context_;
    DeviceProperties properties_;
    DeviceMemory memory_;
    Modules modules_;
    ManagedVariables managed_{memory_, modules_};
    WorkTimes times_;
    Staging staging_{wire::chunk_bytes};
    bool take_stdout_;
    std::optional<PrintedOutput> output_;
    std::map<StreamId, CUstream> streams_{{0, nullptr}};
    std::map<EventId, CUevent> events_;
    CUstream transfer_stream_ = nullptr, own_stream_ = nullptr;
    std::string last_kernel_;  // readable
};

void CudaGpu::launch(FunctionId function, const LaunchConfig& config, std::span<const std::byte> params) {
    const Kernel& kernel = modules_.kernel(function);
    if (params.size() < kernel.info.param_bytes)
        throw DeviceError(error::invalid_value, fmt::format("{} bytes of parameters, but the kernel takes {}",
                                                            params.size(), kernel.info.param_bytes));
    const std::uint64_t most = properties_.shared_mem_per_block_optin;
    if (config.dynamic_shared_bytes > most)
        throw DeviceError(error::invalid_value, fmt::format("{} bytes of shared memory, but a block can have {}",
                                                            config.dynamic_shared_bytes, most));
    const CUstream stream = stream_of(config.stream);
    modules_.allow_dynamic_shared(function, config.dynamic_shared_bytes);
    managed_.carry_to_device(kernel.module);
    std::size_t bytes = kernel.info.param_bytes;
    std::vector<std::byte> block(params.begin(), params.begin() + static_cast<std::ptrdiff_t>(bytes));
    void* list[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                    CU_LAUNCH_PARAM_END};
    CUlaunchAttribute cooperative{};
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
    CUlaunchConfig launch{};
    launch.gridDimX = config.grid.x, launch.gridDimY = config.grid.y, launch.gridDimZ = config.grid.z;
    launch.blockDimX = config.block.x, launch.blockDimY = config.block.y, launch.blockDimZ = config.block.z;
    launch.sharedMemBytes = static_cast<unsigned>(config.dynamic_shared_bytes);
    if (config.cooperative) launch.attrs = &cooperative, launch.numAttrs = 1;
    const auto kind = config.cooperative ? WorkTimes::Kind::cooperative_launch : WorkTimes::Kind::launch;
    const CUresult launched = times_.run(kind, stream, [&](CUstream into) {
        launch.hStream = into;
        return cuda_.cuLaunchKernelEx(&launch, kernel.handle, nullptr, bytes > 0 ? list : nullptr);
    });
    if (launched == CUDA_SUCCESS) {
        last_kernel_ = readable_name(function);
        return;
    }
    if (is_sticky(launched)) wait(launched);
    const Dim3 &grid = config.grid, &threads = config.block;
    check(launched, fmt::format("the GPU refuses a grid of {}×{}×{} blocks of {}×{}×{} threads", grid.x, grid.y, grid.z,
                                threads.x, threads.y, threads.z));
}

}  // namespace

std::unique_ptr<Device> make_cuda_gpu(unsigned which, const CudaGpuOptions& options) {
    return std::make_unique<CudaGpu>(which, options);
}

}  // namespace warpgrade::gpu

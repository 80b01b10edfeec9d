// What every device offers, in CUDA's own terms: memory, images, modules, launches, streams, events and time. The
// device server drives it. Some devices also report what their work did: Analysis (analysis.hpp). All sizes are bytes,
// all times nanoseconds of the device's own clock unless a name says otherwise. Errors are thrown as DeviceError with
// CUDA's own error code.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "device/descriptor.hpp"
#include "device/diagnostic.hpp"
#include "device/image.hpp"
#include "device/print_buffer.hpp"
#include "device/writer.hpp"

namespace warpgrade::device {

using DevicePtr = std::uint64_t;
using ModuleId = std::uint32_t;
using FunctionId = std::uint32_t;
using StreamId = std::uint32_t;  // 0 is the default stream
using EventId = std::uint32_t;

struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;
    [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

// A failed device operation. `code` is the cudaError_t value that the CUDA runtime would return; what() explains it to
// the student: what was wrong, where, and with which sizes. `sticky` errors end the context, as on a real GPU.
class DeviceError : public std::runtime_error {
  public:
    DeviceError(int error_code, const std::string& message, bool is_sticky = false)
        : std::runtime_error(message), code(error_code), sticky(is_sticky) {}
    int code;
    bool sticky;
};

// The cudaError_t values that the device itself raises (driver_types.h of CUDA 13).
namespace error {
inline constexpr int success = 0, invalid_value = 1, memory_allocation = 2, initialization_error = 3,
                     invalid_configuration = 9, invalid_symbol = 13, invalid_device_pointer = 17,
                     invalid_channel_descriptor = 20, invalid_memcpy_direction = 21, invalid_device_function = 98,
                     no_device = 100, invalid_device = 101, device_kernel_image_is_invalid = 200,
                     no_kernel_image_for_device = 209, unsupported_ptx_version = 222, invalid_ptx = 218,
                     unsupported_limit = 215, invalid_resource_handle = 400, not_ready = 600, illegal_address = 700,
                     launch_out_of_resources = 701, launch_timeout = 702, launch_max_depth_exceeded = 65,
                     launch_pending_count_exceeded = 69, assert_failed = 710, hardware_stack_error = 714,
                     illegal_instruction = 715, misaligned_address = 716, invalid_address_space = 717, invalid_pc = 718,
                     launch_failure = 719, cooperative_launch_too_large = 720, not_permitted = 800, not_supported = 801,
                     unknown = 999;
}

// Limits and rates of the device. Field names follow cudaDeviceProp where one exists.
struct DeviceProperties {
    std::string name;
    std::string profile;  // "h100", …
    int major = 0, minor = 0;
    std::uint32_t warp_size = 32;
    std::uint32_t multi_processor_count = 0;
    std::uint32_t max_threads_per_block = 0;
    std::uint32_t max_threads_per_multi_processor = 0;
    std::uint32_t max_blocks_per_multi_processor = 0;
    std::uint32_t regs_per_block = 0, regs_per_multiprocessor = 0;
    std::uint64_t shared_mem_per_block = 0, shared_mem_per_block_optin = 0, shared_mem_per_multiprocessor = 0;
    std::uint64_t reserved_shared_mem_per_block = 0;
    std::uint64_t total_global_mem = 0, total_const_mem = 65536;
    std::uint64_t l2_cache_bytes = 0, l1_cache_bytes = 0;
    Dim3 max_threads_dim, max_grid_size;
    double clock_ghz = 0, memory_clock_ghz = 0;
    std::uint32_t memory_bus_bits = 0;
    double dram_bytes_per_ns = 0, l2_bytes_per_ns = 0;  // of the whole device (or of the slice)
};

struct ParamInfo {
    std::uint32_t offset = 0, bytes = 0;
};

struct FunctionInfo {
    std::string name;  // mangled
    std::vector<ParamInfo> params;
    std::uint32_t param_bytes = 0;
    std::uint32_t registers_per_thread = 0;  // from the cubin, or an estimate without one
    std::uint32_t static_shared_bytes = 0;
    std::uint32_t local_bytes_per_thread = 0;
    std::uint32_t constant_bytes = 0;         // of all the module's __constant__ variables
    std::uint32_t max_threads_per_block = 0;  // by __launch_bounds__ and registers
    int ptx_version = 0, binary_version = 0;  // e.g. 90
};

struct SymbolInfo {
    DevicePtr address = 0;
    std::uint64_t bytes = 0;
};

// Memory that the worker's process maps too, at the device's own address. Its size is sealed, so that neither side can
// unmap the other's pages. The worker may change the bytes at any time, also while a kernel runs.
struct HostVisibleMemory {
    DevicePtr address = 0;
    std::uint64_t bytes = 0;
    Descriptor file;  // `bytes`, rounded up to whole pages
};

struct LaunchConfig {
    Dim3 grid, block;
    std::uint64_t dynamic_shared_bytes = 0;
    StreamId stream = 0;
    bool cooperative = false;
};

// A launch by a kernel.
struct ChildLaunch {
    FunctionId function = 0;
    LaunchConfig config;
    std::vector<std::byte> params;
};

struct Occupancy {
    std::uint32_t blocks_per_multiprocessor = 0;
    double theoretical = 0;  // resident warps / maximal warps
    double achieved = 0;     // the same over a whole launch, including its last, partly filled wave; 0 without one
    std::string limiter;     // "registers", "shared memory", "warps", "blocks"
};

// Where the program allocated memory: the CUDA function, and the call's return address in the program's file (see
// SourcePlace).
struct AllocationOrigin {
    template <class Name>
    AllocationOrigin(const Name& name, std::uint64_t place = 0)  // NOLINT: a name alone is one
        requires std::convertible_to<const Name&, std::string_view>
        : call(name), code(place), kind(memory_kind_of(call)) {}
    AllocationOrigin(std::string_view name, MemoryKind what) : call(name), code(0), kind(what) {}
    std::string_view call;
    std::uint64_t code;
    MemoryKind kind;
};

struct MemoryInfo {
    std::uint64_t free_bytes = 0, total_bytes = 0;
};

enum class Limit : std::uint8_t { StackSize, PrintfFifoSize, MallocHeapSize };  // of cudaDeviceSetLimit

// When a launch ran, on the device's clock.
struct LaunchTime {
    double start_ns = 0, duration_ns = 0;
};

// A transfer whose bytes have been moved, with everything that its duration and its order in the stream depend on.
struct TransferTime {
    enum class Kind : std::uint8_t { to_device, to_host, within_device, fill } kind = Kind::to_device;
    StreamId stream = 0;
    std::uint64_t bytes = 0;
    bool page_locked = false;  // the host's side; the driver copies pageable memory through a buffer
    bool blocking = false;     // the host waits for it
};

class Analysis;

class Device {
  public:
    virtual ~Device() = default;

    [[nodiscard]] virtual const DeviceProperties& properties() const = 0;
    [[nodiscard]] virtual MemoryInfo memory_info() const = 0;
    // Null: the device reports nothing besides results and time.
    [[nodiscard]] virtual Analysis* analysis() { return nullptr; }

    // Memory. Addresses are checked against live allocations; a range outside one throws invalid_value (host copies) as
    // the CUDA runtime would. `code` is the place of the call in the program.
    virtual DevicePtr allocate(std::uint64_t bytes, AllocationOrigin origin) = 0;
    virtual void free(DevicePtr address, std::uint64_t code) = 0;
    void free(DevicePtr address) { free(address, 0); }
    // An address for memory that a graph allocates whenever it is launched: allocate_at() has it there until free().
    virtual DevicePtr reserve(std::uint64_t bytes, AllocationOrigin origin);
    virtual void allocate_at(DevicePtr address, std::uint64_t bytes, AllocationOrigin origin);
    // `at` is 0, or the address of the worker's own page to use, outside all of the device's ranges.
    virtual HostVisibleMemory allocate_host_visible(std::uint64_t bytes, DevicePtr at, AllocationOrigin origin);
    virtual void write(DevicePtr destination, std::span<const std::byte> source) = 0;
    virtual void read(DevicePtr source, std::span<std::byte> destination) = 0;
    virtual void copy(DevicePtr destination, DevicePtr source, std::uint64_t bytes, std::uint64_t code) = 0;
    void copy(DevicePtr destination, DevicePtr source, std::uint64_t bytes) { copy(destination, source, bytes, 0); }
    virtual void fill(DevicePtr destination, std::uint8_t value, std::uint64_t bytes) = 0;
    // The stream of the reads, writes, copies and fills that follow, for a device that works while the host goes on.
    virtual void set_transfer_stream(StreamId) {}
    // True if copy() takes host-visible memory too. Transfers of such memory then never pass through the server.
    [[nodiscard]] virtual bool copies_host_memory() const { return false; }
    // The live allocation (or module variable) that holds the address, if any: its base and size.
    [[nodiscard]] virtual std::optional<SymbolInfo> find_allocation(DevicePtr address) const = 0;
    // True if the bytes at the address are in the host's memory, so that a copy of them crosses the link.
    [[nodiscard]] virtual bool lies_on_host(DevicePtr) const { return false; }

    // Texture and surface objects. Handles are unique and never 0. Throws if the descriptor is invalid.
    virtual ImageId create_image(const ImageDescriptor& image);
    virtual void destroy_image(ImageId image);

    // Modules: `image` is a fatbinary container, a PTX text or a cubin. Loading takes time on the device's clock.
    virtual ModuleId load_module(std::span<const std::byte> image) = 0;
    virtual void unload_module(ModuleId module) = 0;
    virtual FunctionId find_function(ModuleId module, std::string_view name) = 0;  // throws invalid_device_function
    [[nodiscard]] virtual const FunctionInfo& function_info(FunctionId function) const = 0;
    // The name in the source: "matmul_tiled".
    [[nodiscard]] virtual std::string readable_name(FunctionId function) const { return function_info(function).name; }
    virtual SymbolInfo find_symbol(ModuleId module, std::string_view name) = 0;  // throws invalid_symbol
    // A __managed__ variable of the module. Its file is given out once.
    virtual HostVisibleMemory share_symbol(ModuleId module, std::string_view name);

    // Launch: `params` is the parameter block laid out as FunctionInfo::params says. Configuration errors throw before
    // anything runs (not sticky, and what() does not name the kernel); faults while running throw sticky errors. The
    // results are in memory when it returns, but on the device's clock the kernel ends with its stream. A device that
    // works while the host goes on throws faults later, from a function that waits.
    // Those that the last launched kernel asked for, in their order: they are launched next.
    virtual std::vector<ChildLaunch> take_children() { return {}; }
    virtual void launch(FunctionId function, const LaunchConfig& config, std::span<const std::byte> params) = 0;
    [[nodiscard]] virtual Occupancy occupancy(FunctionId function, std::uint32_t block_threads,
                                              std::uint64_t dynamic_shared_bytes) const = 0;
    // What device-side printf wrote since the last call.
    virtual PrintedText take_output() = 0;

    // cudaDeviceSetLimit. Returns the new limit in bytes, which may be larger. Throws DeviceError if the limit is too
    // large or can no longer change.
    virtual std::uint64_t set_limit(Limit, std::uint64_t bytes) { return bytes; }

    // Streams and events, numbered by the caller; stream 0 always exists. A `blocking` stream and stream 0 wait for
    // each other. An event that was never recorded counts as completed.
    virtual void create_stream(StreamId stream, bool blocking) = 0;
    virtual void destroy_stream(StreamId stream) = 0;
    [[nodiscard]] virtual bool query_stream(StreamId stream) = 0;  // True if all of its work is done.
    virtual void synchronize_stream(StreamId stream) = 0;
    virtual void record_event(EventId event, StreamId stream) = 0;
    virtual void wait_for_event(StreamId stream, EventId event) = 0;  // later work of the stream waits
    [[nodiscard]] virtual bool query_event(EventId event) = 0;
    virtual void synchronize_event(EventId event) = 0;
    virtual void forget_event(EventId event) = 0;
    // The time between two recorded events; none if one of them is not completed yet.
    virtual std::optional<double> elapsed_ns(EventId start, EventId end) = 0;
    virtual void synchronize_device() = 0;
    // The same for calls that wait implicitly, such as cudaFree.
    virtual void drain() = 0;
    // Call it after read(), write(), copy() or fill() has moved all bytes of the transfer.
    virtual void schedule_transfer(const TransferTime& transfer) = 0;
    // Waits for everything. Returns the time since the last call of this function, or since the start: what a program's
    // work takes on the device's clock, without its host code.
    virtual double finish() = 0;
    // The mean clock of the multiprocessors in that time, if the device reads it.
    [[nodiscard]] virtual std::optional<double> mean_clock_ghz() const { return std::nullopt; }
    // All launches between the last two calls of finish(), in their order, if the device times single ones without
    // analysis.
    virtual std::vector<LaunchTime> take_launch_times() { return {}; }
};

inline HostVisibleMemory Device::allocate_host_visible(std::uint64_t, DevicePtr, AllocationOrigin) {
    throw DeviceError(error::not_supported, "this device does not share memory with the host");
}
inline HostVisibleMemory Device::share_symbol(ModuleId, std::string_view) {
    throw DeviceError(error::not_supported, "this device does not share memory with the host");
}
inline DevicePtr Device::reserve(std::uint64_t, AllocationOrigin) {
    throw DeviceError(error::not_supported, "this device does not support memory that graphs allocate");
}
inline void Device::allocate_at(DevicePtr, std::uint64_t, AllocationOrigin) {
    throw DeviceError(error::invalid_value, "this device does not support memory that graphs allocate");
}
inline ImageId Device::create_image(const ImageDescriptor&) {
    throw DeviceError(error::not_supported, "this device does not support texture and surface objects");
}
inline void Device::destroy_image(ImageId) {
    throw DeviceError(error::invalid_value, "this device does not support texture and surface objects");
}

}  // namespace warpgrade::device

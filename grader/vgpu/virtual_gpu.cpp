#include "vgpu/virtual_gpu.hpp"
#include "vgpu/text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "vgpu/code/module.hpp"
#include "vgpu/exec/grid.hpp"
#include "vgpu/exec/repeats.hpp"
#include "vgpu/model/advice.hpp"
#include "vgpu/model/clocked_device.hpp"
#include "vgpu/model/occupancy.hpp"
#include "vgpu/model/profile.hpp"
#include "vgpu/model/timing.hpp"
#include "vgpu/ops/opcodes.hpp"

namespace warpgrade::vgpu {

using device::DeviceError;
namespace error = device::error;

namespace {

constexpr std::uint32_t default_slice = 4;  // multiprocessors

Profile open_profile(const std::string& name) {
    Profile p = find_profile(name);
    if (name.find(':') != std::string::npos) return p;  // a slice was asked for
    return p.properties.multi_processor_count > default_slice ? slice(p, default_slice) : p;
}

class VirtualGpu final : public ClockedDevice {
  public:
    VirtualGpu(Profile profile, const VirtualGpuOptions& options)
        : ClockedDevice(HostCosts::of(profile.properties)),
          profile_(std::move(profile)),
          options_(options),
          memory_(options.memory_limit_bytes
                      ? std::min<std::uint64_t>(options.memory_limit_bytes, profile_.properties.total_global_mem)
                      : profile_.properties.total_global_mem,
                  options.checks.init, options.origin && !options.skip_kernels) {
        if (options_.threads == 0) options_.threads = std::max(1u, std::thread::hardware_concurrency());
    }

    [[nodiscard]] const device::DeviceProperties& properties() const override { return profile_.properties; }
    [[nodiscard]] device::MemoryInfo memory_info() const override {
        return {memory_.limit_bytes() - memory_.used_bytes(), memory_.limit_bytes()};
    }

    using Device::free;
    device::DevicePtr allocate(std::uint64_t bytes, device::AllocationOrigin origin) override {
        return memory_.allocate(bytes, origin).base;
    }
    device::DevicePtr reserve(std::uint64_t bytes, device::AllocationOrigin origin) override {
        const device::DevicePtr address = memory_.allocate(bytes, origin).base;
        memory_.free(address, origin.code);
        return address;
    }
    void allocate_at(device::DevicePtr address, std::uint64_t bytes, device::AllocationOrigin origin) override {
        memory_.allocate_at(address, bytes, origin);
    }
    device::HostVisibleMemory allocate_host_visible(std::uint64_t bytes, device::DevicePtr at,
                                                    device::AllocationOrigin origin) override {
        Allocation& a = memory_.allocate_host_visible(bytes, at, origin);
        return {a.base, a.bytes, std::move(a.file)};
    }
    void free(device::DevicePtr address, std::uint64_t code) override { memory_.free(address, code); }
    void write(device::DevicePtr destination, std::span<const std::byte> source) override {
        if (source.empty()) return;
        std::byte* to = memory_.checked(destination, source.size(), "copy to the device");
        memory_.take_from_host(destination);
        Allocation& a = *memory_.find(destination);
        // Many programs send the same inputs before each repetition.
        const bool is_same = options_.skip_repeats && !a.never_set &&
                             (!a.defined || a.defined->all(destination - a.base, source.size())) &&
                             std::equal(source.begin(), source.end(), to);
        if (!is_same) memory_.note_change(a);
        std::copy(source.begin(), source.end(), to);
        memory_.define(destination, source.size());
        memory_.written_by(destination, source.size(), device::writer::host);
    }
    void read(device::DevicePtr source, std::span<std::byte> destination) override {
        if (destination.empty()) return;
        const std::byte* from = memory_.checked(source, destination.size(), "copy from the device");
        memory_.take_from_host(source);
        std::copy_n(from, destination.size(), destination.data());
    }
    using Device::copy;
    void copy(device::DevicePtr destination, device::DevicePtr source, std::uint64_t bytes,
              std::uint64_t code) override {
        if (bytes == 0) return;
        std::byte* to = memory_.checked(destination, bytes, "copy on the device, destination");
        const std::byte* from = memory_.checked(source, bytes, "copy on the device, source");
        memory_.take_from_host(destination);
        memory_.take_from_host(source);
        memory_.note_change(*memory_.find(destination));
        std::memmove(to, from, bytes);
        memory_.copy_definition(destination, source, bytes, code);
        memory_.copy_writers(destination, source, bytes);
    }
    void fill(device::DevicePtr destination, std::uint8_t value, std::uint64_t bytes) override {
        if (bytes == 0) return;
        std::byte* to = memory_.checked(destination, bytes, "memset");
        memory_.take_from_host(destination);
        memory_.note_change(*memory_.find(destination));
        std::memset(to, value, bytes);
        memory_.define(destination, bytes);
        memory_.written_by(destination, bytes, device::writer::fill);
    }
    [[nodiscard]] std::optional<device::SymbolInfo> find_allocation(device::DevicePtr address) const override {
        const Allocation* a = memory_.find(address);
        if (!a) return std::nullopt;
        return device::SymbolInfo{a->base, a->bytes};
    }
    [[nodiscard]] bool lies_on_host(device::DevicePtr address) const override {
        const Allocation* a = memory_.find(address);
        return a && a->home != Allocation::Home::Device;
    }
    [[nodiscard]] std::optional<device::FoundMemory> find_memory(device::DevicePtr address) const override {
        return memory_.known(address);
    }

    device::ImageId create_image(const device::ImageDescriptor& image) override {
        return images_.create(image, memory_);
    }
    void destroy_image(device::ImageId image) override {
        repeats_.forget();
        images_.destroy(image);
    }

    device::ModuleId load_module(std::span<const std::byte> image) override {
        modules_.emplace(next_module_,
                         std::make_unique<LoadedModule>(image, profile_.compile_arch(), memory_, opcode_table(),
                                                        options_.order != device::Order::forward));
        loaded(image.size());
        return next_module_++;
    }
    void unload_module(device::ModuleId module) override {
        std::erase_if(functions_, [module](const auto& f) { return f.second.module == module; });
        if (modules_.erase(module) == 0) throw DeviceError(error::invalid_resource_handle, "no such module");
    }
    device::FunctionId find_function(device::ModuleId module, std::string_view name) override {
        const LoadedKernel& kernel = module_of(module).kernel(name);
        for (const auto& [id, f] : functions_)
            if (f.module == module && f.kernel == &kernel) return id;
        device::FunctionInfo info = kernel.info;
        info.max_threads_per_block = std::min(info.max_threads_per_block, max_block_threads(profile_.properties, info));
        functions_.emplace(next_function_, Function{module, &kernel, std::move(info)});
        return next_function_++;
    }
    [[nodiscard]] const device::FunctionInfo& function_info(device::FunctionId function) const override {
        return find(function).info;
    }
    [[nodiscard]] std::string readable_name(device::FunctionId function) const override {
        return vgpu::readable_name(find(function).info.name);
    }
    [[nodiscard]] bool talks_to_host(device::FunctionId function) const override {
        return find(function).kernel->code.talks_to_host;
    }
    [[nodiscard]] std::optional<std::vector<bool>> read_arguments(device::FunctionId function) const override {
        return find(function).kernel->code.read_arguments;
    }
    device::SymbolInfo find_symbol(device::ModuleId module, std::string_view name) override {
        return module_of(module).symbol(name);
    }

    device::HostVisibleMemory share_symbol(device::ModuleId module, std::string_view name) override {
        const device::SymbolInfo symbol = module_of(module).symbol(name);
        Allocation* a = memory_.find(symbol.address);
        if (!a || !a->file)
            throw DeviceError(error::invalid_symbol,
                              fmt::format("'{}' is not a __managed__ variable, or is already shared", name));
        return {symbol.address, symbol.bytes, std::move(a->file)};
    }

    // Minimum sizes and rounding are those of an H100.
    std::uint64_t set_limit(device::Limit limit, std::uint64_t bytes) override {
        repeats_.forget();
        constexpr std::uint64_t max_stack_bytes = 512u << 10, min_printf_bytes = 512u << 10, min_heap_bytes = 4u << 20;
        switch (limit) {
            case device::Limit::StackSize:
                if (bytes > max_stack_bytes)
                    throw DeviceError(error::invalid_value, "a stack of more than 512 KiB per thread");
                return stack_bytes_ = (bytes + 15) / 16 * 16;
            case device::Limit::PrintfFifoSize:
                return printf_bytes_ = std::clamp(bytes, min_printf_bytes, max_printf_bytes);
            case device::Limit::MallocHeapSize:
                return heap_.resize(std::max(bytes, min_heap_bytes));
        }
        throw DeviceError(error::unsupported_limit, "this device does not have this limit");
    }

    void launch(device::FunctionId function, const device::LaunchConfig& config,
                std::span<const std::byte> params) override;
    std::vector<device::ChildLaunch> take_children() override { return std::exchange(children_, {}); }

    [[nodiscard]] device::Occupancy occupancy(device::FunctionId function, std::uint32_t block_threads,
                                              std::uint64_t dynamic_shared_bytes) const override {
        return vgpu::occupancy(profile_.properties, find(function).info, block_threads, dynamic_shared_bytes);
    }

    [[nodiscard]] bool keeps_origin() const override { return options_.origin; }
    void begin_call() override {
        launches_ = 0;
        traced_.clear();
        memory_.for_each([](Allocation& a) {
            if (a.writers) a.writers->forget();
        });
    }
    void read_writers(device::DevicePtr address, std::span<device::WriterTag> words) const override {
        const Allocation* a = memory_.find(address);
        if (a && a->writers)
            a->writers->read(address - a->base, words);
        else
            std::ranges::fill(words, device::writer::nobody);
    }
    void set_order(device::Order order) override {
        repeats_.forget();
        options_.order = order;
    }
    [[nodiscard]] bool runs_kernels() const override { return !options_.skip_kernels; }
    void mark_written(device::DevicePtr address, std::uint64_t bytes, device::WriterTag who) override {
        memory_.written_by(address, bytes, who);
    }
    std::vector<device::HostData> take_host_data() override {
        std::vector<device::HostData> all;
        memory_.for_each([&](Allocation& a) {
            if (!a.host_copy) return;
            for (auto& [offset, bytes] : a.host_copy->take_used(*a.writers))
                all.push_back({a.base + offset, std::move(bytes)});
        });
        return all;
    }
    void visit_host_memory(const std::function<void(const device::HostMemoryView&)>& visit) override {
        if (options_.skip_kernels) return;  // no kernel ran, so nothing came from one
        memory_.for_each([&](Allocation& a) {
            if (!a.host_copy) return;
            a.host_copy->fetch(*a.writers);
            visit({a.base, {a.host, a.bytes}, a.writers->words(), a.host_copy->version()});
        });
    }

    void set_exact_accesses(bool exactly) override {
        if (exactly != note_accesses_) repeats_.forget();
        note_accesses_ = exactly;
    }
    std::vector<device::MemoryAccess> take_accesses() override { return std::exchange(accesses_, {}); }
    std::vector<device::LaunchRecord> take_records() override { return std::exchange(records_, {}); }
    std::vector<device::Diagnostic> take_diagnostics() override { return std::exchange(diagnostics_, {}); }
    device::PrintedText take_output() override { return output_.take(); }

  private:
    void skip(const device::FunctionInfo& info, const device::LaunchConfig& config, const device::Occupancy& fit) {
        device::LaunchRecord record;
        record.kernel = info.name;
        record.config = config;
        record.occupancy = fit;
        record.counters.emplace();
        place(record, 0, {});
        records_.push_back(std::move(record));
    }
    struct Function {
        device::ModuleId module;
        const LoadedKernel* kernel;
        device::FunctionInfo info;  // of this kernel on this device
    };

    [[nodiscard]] LoadedModule& module_of(device::ModuleId id) const {
        const auto it = modules_.find(id);
        if (it == modules_.end()) throw DeviceError(error::invalid_resource_handle, "no such module");
        return *it->second;
    }
    [[nodiscard]] const Function& find(device::FunctionId id) const {
        const auto it = functions_.find(id);
        if (it == functions_.end()) throw DeviceError(error::invalid_device_function, "no such kernel");
        return it->second;
    }
    void check_configuration(const device::FunctionInfo& info, const device::LaunchConfig& config,
                             const device::Occupancy& occupancy) const;
    // Adds a launch to what the device tells, at this point of its stream.
    void tell(LaunchStory story, device::StreamId stream) {
        story.record.config.stream = stream;
        place(story.record, story.time.total_ns(), story.time.demand);
        records_.push_back(std::move(story.record));
        std::ranges::move(story.diagnostics, std::back_inserter(diagnostics_));
        accesses_ = std::move(story.accesses);
    }

    Profile profile_;
    VirtualGpuOptions options_;
    GlobalMemory memory_;
    std::map<device::ModuleId, std::unique_ptr<LoadedModule>> modules_;
    std::map<device::FunctionId, Function> functions_;
    device::ModuleId next_module_ = 1;
    device::FunctionId next_function_ = 1;
    std::vector<device::LaunchRecord> records_;
    std::vector<device::ChildLaunch> children_;
    std::vector<device::Diagnostic> diagnostics_;
    std::vector<device::MemoryAccess> accesses_;
    bool note_accesses_ = false;
    static constexpr std::size_t max_traced = 16;
    std::set<std::string> traced_;  // kernels of the current call, of which one launch is traced
    static constexpr std::uint64_t max_printf_bytes = 64u << 20;
    device::PrintBuffer output_{max_printf_bytes};
    device::WriterTag launches_ = 0;  // of the current call
    RepeatedLaunches repeats_;
    ImageTable images_;
    DeviceHeap heap_{memory_};
    std::uint64_t stack_bytes_ = 1024, printf_bytes_ = 8650752;
};

void VirtualGpu::check_configuration(const device::FunctionInfo& info, const device::LaunchConfig& config,
                                     const device::Occupancy& occupancy) const {
    const device::DeviceProperties& p = profile_.properties;
    // The codes of an H100 with CUDA 13.0: invalid_value also for an impossible grid or block.
    const auto refuse = [&](int code, const std::string& why) { throw DeviceError(code, why); };
    const auto dims = [&](const device::Dim3& d, const device::Dim3& most, const char* whole, const char* parts) {
        const std::uint32_t values[] = {d.x, d.y, d.z}, limits[] = {most.x, most.y, most.z};
        for (int i = 0; i < 3; ++i) {
            if (values[i] == 0)
                refuse(error::invalid_value, fmt::format("the {} has 0 {} in {}", whole, parts, "xyz"[i]));
            if (values[i] > limits[i])
                refuse(error::invalid_value, fmt::format("the {} has {} {} in {}, but the limit is {}", whole,
                                                         values[i], parts, "xyz"[i], limits[i]));
        }
    };
    dims(config.grid, p.max_grid_size, "grid", "blocks");
    dims(config.block, p.max_threads_dim, "block", "threads");
    if (config.block.count() > p.max_threads_per_block)
        refuse(error::invalid_value,
               fmt::format("the block has {} threads ({}×{}×{}), but the limit is {}", config.block.count(),
                           config.block.x, config.block.y, config.block.z, p.max_threads_per_block));
    const auto threads = static_cast<std::uint32_t>(config.block.count());
    // A block whose registers do not fit has its own error code, below.
    if (threads > info.max_threads_per_block && block_limits(p, info, threads, 0).registers > 0)
        refuse(error::invalid_value, fmt::format("the block has {} threads, but the kernel was compiled for at most {}",
                                                 config.block.count(), info.max_threads_per_block));
    const std::uint64_t shared = info.static_shared_bytes + config.dynamic_shared_bytes;
    if (config.dynamic_shared_bytes > p.shared_mem_per_block_optin || shared > p.shared_mem_per_block_optin)
        refuse(
            error::invalid_value,
            fmt::format("the block needs {} bytes of shared memory ({} static, {} dynamic), but the limit is {}",
                        shared, info.static_shared_bytes, config.dynamic_shared_bytes, p.shared_mem_per_block_optin));
    if (occupancy.blocks_per_multiprocessor == 0)
        refuse(error::launch_out_of_resources,
               fmt::format("a block of {} threads does not fit on a multiprocessor, limited by {} ({} registers per "
                           "thread, {} bytes of shared memory; a block can have {} registers and {} bytes)",
                           config.block.count(), occupancy.limiter, info.registers_per_thread, shared, p.regs_per_block,
                           p.shared_mem_per_block_optin));
    if (config.cooperative) {
        const std::uint64_t most = std::uint64_t{occupancy.blocks_per_multiprocessor} * p.multi_processor_count;
        if (config.grid.count() > most)
            refuse(error::cooperative_launch_too_large,
                   fmt::format("the cooperative launch has {} blocks, but only {} fit on the device at once",
                               config.grid.count(), most));
    }
}

void VirtualGpu::launch(device::FunctionId id, const device::LaunchConfig& config, std::span<const std::byte> params) {
    const Function& f = find(id);
    const LoadedKernel& kernel = *f.kernel;
    const device::FunctionInfo& info = f.info;
    // Caps an absurd block size before arithmetic on it can overflow.
    const std::uint64_t threads = std::min<std::uint64_t>(config.block.count(), 1u << 20);
    const auto fit = occupancy(id, static_cast<std::uint32_t>(std::max<std::uint64_t>(threads, 1)),
                               std::min<std::uint64_t>(config.dynamic_shared_bytes, 1u << 30));
    check_configuration(info, config, fit);
    if (params.size() < info.param_bytes)
        throw DeviceError(error::invalid_value, fmt::format("{} bytes of parameters, but the kernel takes {}",
                                                            params.size(), info.param_bytes));
    if (options_.skip_kernels) return skip(info, config, fit);
    const bool may_repeat = options_.skip_repeats && !options_.origin;  // who wrote which word is not kept
    const LaunchStory* known = may_repeat ? repeats_.find(id, config, params, memory_) : nullptr;
    if (known && options_.progress->stop == 0) {
        ++options_.progress->launches;
        return tell(*known, config.stream);
    }
    LaunchLimits limits;
    limits.threads = options_.threads;
    limits.instructions = options_.instruction_limit;
    limits.multiprocessors = profile_.properties.multi_processor_count;
    limits.resident_blocks = fit.blocks_per_multiprocessor * limits.multiprocessors;
    limits.dynamic_shared_bytes = static_cast<std::uint32_t>(config.dynamic_shared_bytes);
    // The dynamic part begins at the next multiple of 16.
    limits.shared_bytes = config.dynamic_shared_bytes
                              ? (info.static_shared_bytes + 15) / 16 * 16 + limits.dynamic_shared_bytes
                              : info.static_shared_bytes;
    const std::uint64_t blocks_each =
        (config.grid.count() + limits.multiprocessors - 1) / std::max(limits.multiprocessors, 1u);
    limits.blocks_at_once =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(fit.blocks_per_multiprocessor, blocks_each));
    limits.l1_bytes = l1_share(profile_.properties.l1_cache_bytes, limits.shared_bytes, limits.blocks_at_once);
    limits.l2_bytes = profile_.properties.l2_cache_bytes / profile_.l2_halves;
    limits.stack_bytes = stack_bytes_;
    limits.printf_bytes = printf_bytes_;
    limits.heap = &heap_;
    limits.images = &images_;
    limits.checks = options_.checks;
    limits.sample_blocks = options_.sample_blocks;
    limits.progress = options_.progress.get();
    limits.order = options_.order;
    limits.note_accesses = note_accesses_;
    limits.trace_accesses = options_.trace_accesses && traced_.size() < max_traced && traced_.insert(info.name).second;
    if (options_.origin) {
        limits.writer = launches_ =
            static_cast<device::WriterTag>(std::min<unsigned>(launches_ + 1u, device::writer::last_launch));
        memory_.for_each([](Allocation& a) {
            if (a.host_copy) a.host_copy->fetch(*a.writers);
        });
    }
    Grid grid(kernel.code, module_of(f.module).ptx(), config, limits, params, memory_);
    LaunchResult result = grid.run();
    if (options_.origin)
        memory_.for_each([&](Allocation& a) {
            if (a.host_copy) a.host_copy->publish(*a.writers, limits.writer);
        });
    LaunchStory story;
    device::LaunchRecord& record = story.record;
    record.kernel = info.name;
    record.demangled = vgpu::readable_name(info.name);
    record.config = config;
    record.registers_per_thread = info.registers_per_thread;
    record.static_shared_bytes = info.static_shared_bytes;
    record.counters = result.counters;
    record.sampled_blocks = result.sampled_blocks;
    record.most_block_instructions = result.most_block_instructions;
    record.occupancy = fit;
    record.occupancy.achieved = achieved_occupancy(profile_.properties, fit, config.grid.count());
    story.time = model_kernel(profile_, config, result.counters, fit, result.traffic, result.spread);
    if (result.use)
        record.costs =
            costs_of_causes(profile_, config, result.counters, fit, result.traffic, result.spread, *result.use);
    record.lines = std::move(result.lines);
    record.trace = std::move(result.trace);
    record.any_data = std::move(result.any_data);
    record.any_order = result.any_order;
    record.read_from = std::move(result.read_from);
    record.written_to = std::move(result.written_to);
    if (const auto& fault = result.fault) {
        record.error_code = fault->code;
        record.error = fault->text();
    }
    story.diagnostics = std::move(result.diagnostics);
    if (result.use)
        std::ranges::move(advise(profile_, config, result.counters, fit, result.traffic, *result.use),
                          std::back_inserter(story.diagnostics));
    for (device::Diagnostic& found : story.diagnostics) found.kernel = record.demangled;
    story.accesses = std::move(result.accesses);
    if (may_repeat && !result.fault) repeats_.keep(id, config, params, kernel.code, story, memory_);
    tell(std::move(story), config.stream);
    for (ChildLaunch& child : result.children) {
        try {
            children_.push_back({find_function(f.module, child.kernel->name), child.config, std::move(child.params)});
        } catch (const DeviceError& e) {
            throw DeviceError(e.code, fmt::format("launched by a kernel: {}", e.what()), true);
        }
    }
    output_.add(result.printed);
    if (const auto& fault = result.fault)
        throw DeviceError(fault->code, fmt::format("kernel '{}': {}", vgpu::readable_name(info.name), fault->text()),
                          true);
}

}  // namespace

std::unique_ptr<device::Device> make_virtual_gpu(const std::string& profile, const VirtualGpuOptions& options) {
    VirtualGpuOptions complete = options;
    if (options.sample_blocks != 0) complete.checks.init = false;
    if (!options.progress) complete.progress = std::make_shared<device::Progress>();
    return std::make_unique<VirtualGpu>(open_profile(profile), complete);
}

}  // namespace warpgrade::vgpu

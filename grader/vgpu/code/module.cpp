#include "vgpu/code/module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>

#include "device/address_space.hpp"
#include "vgpu/code/builtins.hpp"
#include "vgpu/container/fatbin.hpp"
#include "vgpu/ptx/link.hpp"
#include "vgpu/ptx/parser.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

using device::DeviceError;
namespace error = device::error;
using ptx::Space;

namespace {

// Parses the PTX of separately compiled files. Programs whose kernels launch kernels are linked with CUDA's device
// runtime, a library with PTX for the newest devices only. It is left out: a kernel that needs it is refused by name at
// its launch, and the program's other kernels run.
std::vector<ptx::Module> parse_parts(std::span<const std::span<const std::byte>> containers, int compute_capability) {
    std::vector<ptx::Module> parts;
    std::exception_ptr without_ptx;
    for (const auto& container : containers) {
        const auto entries = read_fatbin(container);
        try {
            if (const FatbinEntry* entry = choose_ptx(entries, compute_capability))
                parts.push_back(ptx::parse(entry->text()));
        } catch (const FatbinError&) {
            without_ptx = std::current_exception();
        }
    }
    const bool launches_kernels = std::ranges::any_of(parts, [](const ptx::Module& part) {
        return std::ranges::any_of(part.functions, [](const ptx::Function& f) { return is_device_runtime(f.name); });
    });
    if (without_ptx && !launches_kernels) std::rethrow_exception(without_ptx);
    return parts;
}

// Reads the PTX of an image, and what its cubin says.
void parse_image(ModuleImage& image) {
    try {
        const std::span<const std::byte> bytes = image.bytes;
        if (!is_fatbin(bytes)) {
            const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            image.ptx = ptx::parse(text.substr(0, text.find('\0')));
            return;
        }
        const auto containers = split_fatbins(bytes);
        const auto entries = read_fatbin(containers.front());
        if (const FatbinEntry* cubin = choose_cubin(entries, image.compute_capability)) {
            image.resources = read_cubin(cubin->data);
            image.called = read_called_functions(cubin->data);
        }
        if (containers.size() > 1)
            image.ptx = ptx::link(parse_parts(std::span(containers).subspan(1), image.compute_capability));
        else if (const FatbinEntry* entry = choose_ptx(entries, image.compute_capability))
            image.ptx = ptx::parse(entry->text());
    } catch (const ptx::PtxError& e) {
        throw DeviceError(error::invalid_ptx, e.what());
    } catch (const FatbinError& e) {
        throw DeviceError(error::no_kernel_image_for_device, e.what());
    }
}

// What the cubin says of the functions that the kernel calls; nothing if there is no such kernel in it.
std::optional<SavedRegisters> saved_registers(const ModuleImage& image, const std::string& kernel) {
    if (std::ranges::find(image.resources, kernel, &KernelResources::name) == image.resources.end()) return {};
    SavedRegisters saved;
    for (const CalledFunction& function : image.called)
        if (function.kernel.empty() || function.kernel == kernel) saved[function.name] = function.saved_registers;
    return saved;
}

std::mutex images;

// The last image is kept.
std::shared_ptr<ModuleImage> image_of(std::span<const std::byte> bytes, int compute_capability) {
    static std::shared_ptr<ModuleImage> last;
    const std::lock_guard lock(images);
    if (last && last->compute_capability == compute_capability && std::ranges::equal(last->bytes, bytes)) return last;
    auto image = std::make_shared<ModuleImage>();
    image->bytes.assign(bytes.begin(), bytes.end());
    image->compute_capability = compute_capability;
    parse_image(*image);
    last = image;
    return image;
}

std::shared_ptr<DecodedKernels> decoded_of(ModuleImage& image, const SymbolTable& symbols, bool steps) {
    const std::lock_guard lock(images);
    if (!image.decoded || image.decoded->symbols != symbols || image.decoded->steps != steps) {
        image.decoded = std::make_shared<DecodedKernels>();
        image.decoded->symbols = symbols;
        image.decoded->steps = steps;
    }
    return image.decoded;
}

}  // namespace

LoadedModule::LoadedModule(std::span<const std::byte> image, int compute_capability, GlobalMemory& memory,
                           const OpcodeTable& opcodes, bool steps)
    : memory_(memory), opcodes_(opcodes) {
    const auto shared = image_of(image, compute_capability);
    image_ = shared;
    try {
        place_variables();
    } catch (...) {
        for (Allocation* a : variables_) memory_.release(*a);
        throw;
    }
    decoded_ = decoded_of(*shared, symbols_, steps);
}

LoadedModule::~LoadedModule() {
    for (Allocation* a : variables_) memory_.release(*a);
}

void LoadedModule::place_variables() {
    for (const ptx::Variable& v : ptx().variables) {
        if (v.space == Space::Shared) {
            // Static variables are placed for each kernel; `extern .shared` is each kernel's dynamic part.
            if (v.is_extern) symbols_[v.name] = {Space::Shared, 0, 0};
            continue;
        }
        if (v.space != Space::Global && v.space != Space::Const) continue;
        if (v.is_extern)
            throw DeviceError(error::invalid_ptx,
                              fmt::format("variable '{}' is declared extern and defined nowhere; where several files "
                                          "are linked, all of them must be compiled and linked with -rdc=true",
                                          v.name));
        const std::uint64_t bytes = std::max<std::uint64_t>(v.bytes, 1);
        Allocation& a =
            v.is_managed
                ? memory_.allocate_host_visible(bytes, 0,
                                                {"managed variable " + v.name, device::MemoryKind::managed_variable})
                : memory_.allocate_zeroed(bytes, "device variable " + v.name, std::max<std::uint64_t>(v.align, 256));
        a.is_variable = true;
        a.defined.reset();
        a.variable = readable_name(v.name);
        a.read_only = v.space == Space::Const;
        a.never_set = a.read_only && v.initial.empty() && v.relocations.empty();
        variables_.push_back(&a);
        symbols_[v.name] = {v.space, a.base, v.bytes};
        if (!v.initial.empty()) std::memcpy(a.host, v.initial.data(), std::min<std::size_t>(v.initial.size(), a.bytes));
    }
    std::uint64_t functions = 0;
    for (const ptx::Function& f : ptx().functions)
        symbols_.try_emplace(f.name, SymbolPlace{Space::None, device::address_space::code_base + 16 * ++functions, 0});
    for (const ptx::Variable& v : ptx().variables)
        for (const ptx::Relocation& r : v.relocations) {
            const auto target = symbols_.find(r.symbol);
            const auto self = symbols_.find(v.name);
            if (self == symbols_.end()) continue;
            if (target == symbols_.end() || target->second.space == Space::Shared)
                throw DeviceError(error::invalid_ptx,
                                  fmt::format("initial value of '{}': no address of '{}'", v.name, r.symbol));
            const std::uint64_t value = target->second.address + static_cast<std::uint64_t>(r.addend);
            std::memcpy(memory_.checked(self->second.address + r.offset, r.bytes, "initial value"), &value, r.bytes);
        }
    for (const Allocation* a : variables_)
        if (a->host_copy) a->host_copy->publish(0, a->bytes);
}

std::string LoadedModule::located(const ptx::Function& function, const ptx::PtxError& e) const {
    for (const ptx::Function& f : ptx().functions)
        for (const ptx::Instruction& in : f.body)
            if (in.ptx_line == e.ptx_line)
                if (const auto at = ptx().outermost(in.location); at.line)
                    if (const std::string* file = ptx().file_name(at.file))
                        return fmt::format("{}:{}: kernel '{}': {}", *file, at.line, readable_name(function.name),
                                           e.what());
    return fmt::format("kernel '{}': {}", readable_name(function.name), e.what());
}

const LoadedKernel& LoadedModule::kernel(std::string_view name) {
    const std::lock_guard lock(decoded_->mutex);
    for (const auto& k : decoded_->kernels)
        if (k->function->name == name) return *k;
    const ptx::Function* f = ptx().find_function(std::string(name));
    if (!f || !f->is_entry || f->is_declaration)
        throw DeviceError(error::invalid_device_function, fmt::format("the module has no kernel '{}'", name));
    auto k = std::make_unique<LoadedKernel>();
    k->function = f;
    try {
        const auto saved = saved_registers(*image_, f->name);
        k->code = decode_kernel(ptx(), *f, symbols_, opcodes_, decoded_->steps, saved ? &*saved : nullptr);
    } catch (const ptx::PtxError& e) {
        const bool invalid = e.kind == ptx::PtxError::Kind::invalid;
        throw DeviceError(invalid ? error::invalid_ptx : error::not_supported, located(*f, e));
    }
    device::FunctionInfo& info = k->info;
    info.name = f->name;
    std::uint32_t offset_count = 0;
    for (const std::uint32_t offset : parameter_offsets(f->parameters, &info.param_bytes))
        info.params.push_back({offset, static_cast<std::uint32_t>(f->parameters[offset_count++].bytes)});
    info.registers_per_thread = k->code.register_estimate;
    info.static_shared_bytes = k->code.static_shared_bytes;
    info.local_bytes_per_thread = k->code.local_bytes;
    for (const KernelResources& r : image_->resources)
        if (r.name == f->name) {
            info.registers_per_thread = r.registers_per_thread;
            info.local_bytes_per_thread = r.local_bytes_per_thread;
        }
    std::uint64_t constants = 0;
    const std::uint64_t maximum =
        std::uint64_t{f->max_ntid[0]} * std::max(f->max_ntid[1], 1u) * std::max(f->max_ntid[2], 1u);
    info.max_threads_per_block = maximum ? static_cast<std::uint32_t>(std::min<std::uint64_t>(maximum, 1024)) : 1024;
    for (const ptx::Variable& v : ptx().variables)
        if (v.space == Space::Const) {
            const std::uint64_t align = std::max<std::uint64_t>(v.align, 1);
            constants = (constants + align - 1) / align * align + v.bytes;
        }
    info.constant_bytes = static_cast<std::uint32_t>(constants);
    info.ptx_version = info.binary_version = ptx().target;
    decoded_->kernels.push_back(std::move(k));
    return *decoded_->kernels.back();
}

device::SymbolInfo LoadedModule::symbol(std::string_view name) const {
    const auto it = symbols_.find(std::string(name));
    if (it == symbols_.end() || (it->second.space != Space::Global && it->second.space != Space::Const))
        throw DeviceError(error::invalid_symbol, fmt::format("the module has no variable '{}'", name));
    return {it->second.address, it->second.bytes};
}

}  // namespace warpgrade::vgpu

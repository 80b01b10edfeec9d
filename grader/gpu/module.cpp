#include "gpu/module.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "gpu/driver.hpp"

namespace warpgrade::gpu {

using device::DeviceError;
namespace error = device::error;

namespace {

// The driver learns the size of what it reads from the image itself, so a size beyond the image must not reach it.
// Other sizes inside are the driver's to check. A linked program sends its linked image first, then each file's own.
std::vector<std::byte> first_container(std::span<const std::byte> image) {
    struct {
        std::uint32_t magic;
        std::uint16_t version, header_bytes;
        std::uint64_t body_bytes;
    } header{};
    constexpr std::uint32_t container_magic = 0xBA55ED50;
    if (image.size() < sizeof header)
        throw DeviceError(error::device_kernel_image_is_invalid, "the device code is cut off");
    std::memcpy(&header, image.data(), sizeof header);
    if (header.magic == container_magic) {
        if (header.header_bytes > image.size() || header.body_bytes > image.size() - header.header_bytes)
            throw DeviceError(error::device_kernel_image_is_invalid, "the device code is cut off");
        image = image.first(header.header_bytes + header.body_bytes);
    }
    std::vector<std::byte> copy(image.begin(), image.end());
    copy.push_back(std::byte{0});  // the end of a PTX text
    return copy;
}

std::uint32_t attribute(CUfunction function, CUfunction_attribute which) {
    int value = 0;
    check(driver().cuFuncGetAttribute(&value, which, function), "a kernel's attribute");
    return static_cast<std::uint32_t>(value);
}

device::FunctionInfo describe(CUfunction function, const std::string& name) {
    device::FunctionInfo info;
    info.name = name;
    std::size_t offset = 0, bytes = 0;
    while (driver().cuFuncGetParamInfo(function, info.params.size(), &offset, &bytes) == CUDA_SUCCESS) {
        info.params.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)});
        info.param_bytes = static_cast<std::uint32_t>(offset + bytes);
    }
    info.registers_per_thread = attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
    info.static_shared_bytes = attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    info.local_bytes_per_thread = attribute(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    info.constant_bytes = attribute(function, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
    info.max_threads_per_block = attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info.ptx_version = static_cast<int>(attribute(function, CU_FUNC_ATTRIBUTE_PTX_VERSION));
    info.binary_version = static_cast<int>(attribute(function, CU_FUNC_ATTRIBUTE_BINARY_VERSION));
    return info;
}

}  // namespace

Modules::~Modules() {
    for (const auto& [id, module] : modules_) driver().cuModuleUnload(module.handle);
}

Modules::Module& Modules::module(device::ModuleId id) {
    const auto found = modules_.find(id);
    if (found == modules_.end()) throw DeviceError(error::invalid_resource_handle, "no such module");
    return found->second;
}

device::ModuleId Modules::load(std::span<const std::byte> image) {
    Module loaded;
    check(driver().cuModuleLoadData(&loaded.handle, first_container(image).data()), "loading device code");
    modules_[next_module_] = loaded;
    return next_module_++;
}

void Modules::unload(device::ModuleId id) {
    const Module unloaded = module(id);
    for (const device::DevicePtr variable : unloaded.variables) memory_.remove_variable(variable);
    std::erase_if(kernels_, [id](const auto& kernel) { return kernel.second.module == id; });
    modules_.erase(id);
    check(driver().cuModuleUnload(unloaded.handle), "unloading device code");
}

device::FunctionId Modules::find_function(device::ModuleId id, std::string_view name) {
    for (const auto& [function, kernel] : kernels_)
        if (kernel.module == id && kernel.info.name == name) return function;
    Kernel kernel;
    kernel.module = id;
    const std::string text(name);
    if (driver().cuModuleGetFunction(&kernel.handle, module(id).handle, text.c_str()) != CUDA_SUCCESS)
        throw DeviceError(error::invalid_device_function, fmt::format("the device code has no kernel '{}'", text));
    kernel.info = describe(kernel.handle, text);
    kernel.dynamic_shared_bytes = attribute(kernel.handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    kernels_[next_function_] = std::move(kernel);
    return next_function_++;
}

device::SymbolInfo Modules::find_symbol(device::ModuleId id, std::string_view name) {
    Module& holder = module(id);
    device::SymbolInfo symbol;
    std::size_t bytes = 0;
    const std::string text(name);
    CUdeviceptr address = 0;
    if (driver().cuModuleGetGlobal(&address, &bytes, holder.handle, text.c_str()) != CUDA_SUCCESS)
        throw DeviceError(error::invalid_symbol, fmt::format("the device code has no variable '{}'", text));
    symbol = {address, bytes};
    memory_.add_variable(symbol);
    holder.variables.push_back(address);
    return symbol;
}

const Kernel& Modules::kernel(device::FunctionId function) const {
    const auto found = kernels_.find(function);
    if (found == kernels_.end()) throw DeviceError(error::invalid_device_function, "no such kernel");
    return found->second;
}

void Modules::allow_dynamic_shared(device::FunctionId function, std::uint64_t bytes) {
    Kernel& allowed = kernels_.at(function);
    if (bytes <= allowed.dynamic_shared_bytes) return;
    check(driver().cuFuncSetAttribute(allowed.handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      static_cast<int>(bytes)),
          fmt::format("{} bytes of dynamic shared memory", bytes));
    allowed.dynamic_shared_bytes = bytes;
}

}  // namespace warpgrade::gpu

#include "cudart/state/registry.hpp"

#include <algorithm>
#include <cstring>

#include "cudart/client/errors.hpp"
#include "cudart/state/host_memory.hpp"

namespace warpgrade::cudart {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243B1, container_magic = 0xBA55ED50;

// The argument of __cudaRegisterFatBinary (fatbinary_section.h).
struct Wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const std::byte* data;
    const void* const* files;  // version 2: the fatbinaries of the linked files, then null
};
constexpr std::uint32_t linked_version = 2;

struct ContainerHeader {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_bytes;
    std::uint64_t body_bytes;
};

void add_image(Module& module, const void* data) {
    ContainerHeader header;
    std::memcpy(&header, data, sizeof header);
    if (header.magic == container_magic)
        module.images.emplace_back(static_cast<const std::byte*>(data), header.header_bytes + header.body_bytes);
}

}  // namespace

Registry& Registry::get() {
    static Registry& registry = *new Registry;
    return registry;
}

Module* Registry::add_module(const void* pointer) {
    auto module = std::make_unique<Module>();
    const auto* wrapper = static_cast<const Wrapper*>(pointer);
    if (wrapper != nullptr && wrapper->magic == wrapper_magic && wrapper->data != nullptr) {
        add_image(*module, wrapper->data);
        if (wrapper->version == linked_version && wrapper->files != nullptr)
            for (const void* const* file = wrapper->files; *file != nullptr; ++file) add_image(*module, *file);
    }
    Module* key = module.get();
    modules_[key] = std::move(module);
    return key;
}

Module* Registry::add_module(std::vector<std::byte> image) {
    auto module = std::make_unique<Module>();
    module->own_image = std::move(image);
    module->images.emplace_back(module->own_image);
    Module* key = module.get();
    modules_[key] = std::move(module);
    return key;
}

Kernel* Registry::add_kernel(Module* module, const void* stub, const char* name) {
    auto kernel = std::make_unique<Kernel>();
    kernel->module = module;
    kernel->name = name;
    handles_[kernel.get()] = kernel.get();
    Kernel* const handle = kernel.get();
    kernels_[stub != nullptr ? stub : handle] = std::move(kernel);
    return handle;
}

void Registry::add_variable(Module* module, const void* shadow, const char* name, std::size_t bytes, bool constant) {
    variables_[shadow] = {module, name, 0, 0, bytes, constant};
}

void Registry::add_managed_variable(Module* module, void** pointer, const char* name) {
    managed_.push_back({module, name, pointer});
}

cudaError_t Registry::map_managed_variables(const Module& module) {
    for (ManagedVariable& variable : managed_) {
        if (variable.module != &module) continue;
        const cudaError_t status =
            map_managed_variable(module.id, variable.name.c_str(), variable.pointer, variable.bytes);
        if (status != cudaSuccess) return status;
        // API functions identify the variable by this address.
        variables_[*variable.pointer] = {variable.module,
                                         variable.name,
                                         reinterpret_cast<std::uintptr_t>(*variable.pointer),
                                         variable.bytes,
                                         0,
                                         false};
    }
    return cudaSuccess;
}

// Called at the program's end. The server unloads the module together with the context.
void Registry::remove_module(Module* module) {
    std::erase_if(managed_, [&](const ManagedVariable& variable) { return variable.module == module; });
    std::erase_if(variables_, [&](const auto& entry) { return entry.second.module == module; });
    std::erase_if(handles_, [&](const auto& entry) { return entry.second->module == module; });
    std::erase_if(kernels_, [&](const auto& entry) { return entry.second->module == module; });
    modules_.erase(module);
}

cudaError_t Registry::load(Module& module) {
    if (module.loaded) return module.load_status;
    if (const cudaError_t status = Connection::get().ready(); status != cudaSuccess) return status;
    module.loaded = true;
    if (module.images.empty()) {
        module.load_status = cudaErrorInvalidKernelImage;
    } else if (module.images.size() == 1) {
        module.load_status =
            Connection::get().load_module(module.images.front().data(), module.images.front().size(), module.id);
    } else {
        std::vector<std::byte> joined;
        for (const auto& image : module.images) joined.insert(joined.end(), image.begin(), image.end());
        module.load_status = Connection::get().load_module(joined.data(), joined.size(), module.id);
    }
    if (module.load_status == cudaSuccess) module.load_status = map_managed_variables(module);
    return module.load_status;
}

Kernel* Registry::find_registered_kernel(const void* handle) {
    if (const auto stub = kernels_.find(handle); stub != kernels_.end()) return stub->second.get();
    const auto found = handles_.find(handle);
    return found == handles_.end() ? nullptr : found->second;
}

cudaError_t Registry::find_kernel(const void* handle, Kernel*& result) {
    Kernel* kernel = find_registered_kernel(handle);
    if (kernel == nullptr) return cudaErrorInvalidResourceHandle;
    if (!kernel->resolved) {
        if (const cudaError_t status = load(*kernel->module); status != cudaSuccess) return status;
        Connection& connection = Connection::get();
        std::vector<std::byte> reply;
        kernel->status =
            connection.call(Op::find_function, Writer().put(kernel->module->id).put_string(kernel->name), &reply);
        if (kernel->status == cudaSuccess)
            kernel->status = connection.take(reply, [&](Reader& reader) {
                kernel->id = reader.get<std::uint32_t>();
                kernel->info = wire::get_function_info(reader);
            });
        kernel->resolved = true;
    }
    result = kernel;
    return kernel->status;
}

cudaError_t Registry::find_kernel(Module& module, const char* name, Kernel*& result) {
    const auto is_wanted = [&](const auto& entry) {
        return entry.second->module == &module && entry.second->name == name;
    };
    const auto found = std::find_if(handles_.begin(), handles_.end(), is_wanted);
    const bool is_new = found == handles_.end();
    Kernel* const kernel = is_new ? add_kernel(&module, nullptr, name) : found->second;
    const cudaError_t status = find_kernel(kernel, result);
    if (status != cudaSuccess && is_new) handles_.erase(kernel), kernels_.erase(kernel);
    return status;
}

cudaError_t Registry::find_variable(Module& module, const std::string& name, std::uint64_t& address,
                                    std::uint64_t& bytes) {
    if (const cudaError_t status = load(module); status != cudaSuccess) return status;
    Connection& connection = Connection::get();
    std::vector<std::byte> reply;
    const cudaError_t status = connection.call(Op::find_symbol, Writer().put(module.id).put_string(name), &reply);
    if (status != cudaSuccess) return status;
    return connection.take(reply, [&](Reader& reader) {
        address = reader.get<std::uint64_t>();
        bytes = reader.get<std::uint64_t>();
    });
}

cudaError_t Registry::find_variable(const void* shadow, Variable*& result) {
    const auto found = variables_.find(shadow);
    if (found == variables_.end()) return cudaErrorInvalidSymbol;
    Variable& variable = found->second;
    if (variable.address == 0) {
        const cudaError_t status = find_variable(*variable.module, variable.name, variable.address, variable.bytes);
        if (status != cudaSuccess) return status;
    }
    result = &variable;
    return cudaSuccess;
}

const void* Registry::shadow_at(const void* pointer) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    for (const auto& [shadow, variable] : variables_)
        if (address - reinterpret_cast<std::uintptr_t>(shadow) < variable.shadow_bytes) return shadow;
    return nullptr;
}

void Registry::forget() {
    for (auto& [key, module] : modules_) module->loaded = false;
    for (auto& [stub, kernel] : kernels_) kernel->resolved = false, kernel->dynamic_shared_bytes = 0;
    for (auto& [shadow, variable] : variables_) variable.address = 0;
}

}  // namespace warpgrade::cudart

using namespace warpgrade::cudart;

// Called by the code that nvcc generates (crt/host_runtime.h), which declares them as here.
extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
    const std::lock_guard lock(Connection::get().mutex());
    return reinterpret_cast<void**>(Registry::get().add_module(wrapper));
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
    const std::lock_guard lock(Connection::get().mutex());
    Registry::get().remove_module(reinterpret_cast<Module*>(handle));
}

// Called before the host first reads or writes a __managed__ variable of the module.
char __cudaInitModule(void** handle) {
    return api([&] { return Registry::get().load(*reinterpret_cast<Module*>(handle)); }) == cudaSuccess ? 1 : 0;
}

void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
    const std::lock_guard lock(Connection::get().mutex());
    Registry::get().add_kernel(reinterpret_cast<Module*>(handle), stub, name);
}

void __cudaRegisterVar(void** handle, char* shadow, char*, const char* name, int, std::size_t bytes, int constant,
                       int) {
    const std::lock_guard lock(Connection::get().mutex());
    Registry::get().add_variable(reinterpret_cast<Module*>(handle), shadow, name, bytes, constant != 0);
}

void __cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* name, int, std::size_t, int, int) {
    const std::lock_guard lock(Connection::get().mutex());
    Registry::get().add_managed_variable(reinterpret_cast<Module*>(handle), pointer, name);
}

cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* stub) {
    return api([&] {
        Kernel* kernel = Registry::get().find_registered_kernel(stub);
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        *handle = reinterpret_cast<cudaKernel_t>(kernel);
        return cudaSuccess;
    });
}
}

cudaError_t CUDARTAPI cudaGetKernel(cudaKernel_t* handle, const void* stub) {
    return handle == nullptr ? remember(cudaErrorInvalidValue) : __cudaGetKernel(handle, stub);
}

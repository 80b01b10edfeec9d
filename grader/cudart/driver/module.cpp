#include "cudart/driver/module.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <unordered_set>

#include "cudart/driver/driver.hpp"
#include "cudart/state/registry.hpp"

namespace warpgrade::cudart {
namespace {

std::unordered_set<CUmodule>& modules() {
    static auto& all = *new std::unordered_set<CUmodule>;
    return all;
}

Module* module_of(CUmodule handle) { return reinterpret_cast<Module*>(handle); }

template <class Body>
CUresult with_module(CUmodule handle, Body&& body) {
    return in_context([&] {
        return device_api([&](Connection&) -> cudaError_t {
            return modules().count(handle) == 0 ? cudaErrorInvalidResourceHandle : body(*module_of(handle));
        });
    });
}

// What was wrong with the module that the thread loaded last; it stands on stderr too.
thread_local std::string last_problem;

cudaError_t refuse(cudaError_t status, const std::string& problem) {
    std::fprintf(stderr, "warpgrade: the module cannot be loaded: %s\n", problem.c_str());
    last_problem = problem;
    return status;
}

// How long an image is that comes without its length: a fatbinary says so, and PTX is text.
std::size_t size_of(const void* image) {
    constexpr std::uint32_t fatbinary = 0xBA55ED50;
    struct Header {
        std::uint32_t magic;
        std::uint16_t version, header_bytes;
        std::uint64_t body_bytes;
    } header{};
    const auto* text = static_cast<const char*>(image);
    std::memcpy(&header, text, ::strnlen(text, sizeof header.magic));
    if (header.magic != fatbinary) return std::strlen(text) + 1;
    std::memcpy(&header, text, sizeof header);
    return header.header_bytes + header.body_bytes;
}

bool is_elf(const void* image) { return std::strncmp(static_cast<const char*>(image), ELFMAG, SELFMAG) == 0; }

cudaError_t load(CUmodule* result, const void* image, std::size_t bytes) {
    last_problem.clear();
    if (is_elf(image))
        return refuse(cudaErrorNoKernelImageForDevice,
                      "it holds machine code only (a cubin), and this device runs PTX; compile it with -ptx, or with "
                      "-fatbin -gencode arch=compute_90,code=[compute_90,sm_90]");
    if (bytes > wire::max_image_bytes) return refuse(cudaErrorInvalidKernelImage, "it is too large");
    const auto* first = static_cast<const std::byte*>(image);
    Registry& registry = Registry::get();
    Module* const module = registry.add_module(std::vector<std::byte>(first, first + bytes));
    if (const cudaError_t status = registry.load(*module); status != cudaSuccess) {
        registry.remove_module(module);
        return refuse(status, Connection::get().refusal());
    }
    *result = reinterpret_cast<CUmodule>(module);
    modules().insert(*result);
    return cudaSuccess;
}

// What a compiler would say comes back as options say; times are not known, and 0.
class Logs {
  public:
    Logs(unsigned count, const CUjit_option* options, void** values) {
        for (unsigned i = 0; i < count; ++i) {
            void*& value = values[i];
            if (options[i] == CU_JIT_INFO_LOG_BUFFER) info_.text = static_cast<char*>(value);
            if (options[i] == CU_JIT_ERROR_LOG_BUFFER) error_.text = static_cast<char*>(value);
            if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) info_.size = &value;
            if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) error_.size = &value;
            if (options[i] == CU_JIT_WALL_TIME) value = nullptr;
        }
    }
    void write(const std::string& problem) {
        info_.write({});
        error_.write(problem);
    }

  private:
    struct Log {
        char* text = nullptr;
        void** size = nullptr;  // in and out: a number of bytes
        void write(const std::string& words) {
            if (size == nullptr) return;
            const auto room = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(*size));
            const std::size_t bytes = text != nullptr && room > 0 ? std::min<std::size_t>(words.size(), room - 1) : 0;
            if (text != nullptr && room > 0) std::memcpy(text, words.data(), bytes), text[bytes] = '\0';
            *size = reinterpret_cast<void*>(bytes);
        }
    };
    Log info_, error_;
};

}  // namespace

void unload_modules() {
    for (const CUmodule module : modules()) Registry::get().remove_module(module_of(module));
    modules().clear();
}

}  // namespace warpgrade::cudart

using namespace warpgrade::cudart;

CUresult CUDAAPI cuModuleLoadData(CUmodule* module, const void* image) {
    const CallSite site;
    return in_context([&] {
        return device_api([&](Connection&) -> cudaError_t {
            if (module == nullptr || image == nullptr) return cudaErrorInvalidValue;
            return load(module, image, is_elf(image) ? 0 : size_of(image));
        });
    });
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count, CUjit_option* options,
                                    void** values) {
    const CallSite site;
    if (count > 0 && (options == nullptr || values == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = cuModuleLoadData(module, image);
    Logs(count, options, values).write(result == CUDA_SUCCESS ? std::string() : last_problem);
    return result;
}

CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule* module, const void* image) {
    const CallSite site;
    return cuModuleLoadData(module, image);
}

CUresult CUDAAPI cuModuleLoad(CUmodule* module, const char* path) {
    const CallSite site;
    return in_context([&] {
        return device_api([&](Connection&) -> cudaError_t {
            if (module == nullptr || path == nullptr) return cudaErrorInvalidValue;
            std::ifstream file(path, std::ios::binary);
            std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
            if (!file) return cudaErrorFileNotFound;
            bytes.push_back('\0');
            return load(module, bytes.data(), bytes.size());
        });
    });
}

CUresult CUDAAPI cuModuleUnload(CUmodule handle) {
    return with_module(handle, [&](Module& module) {
        const cudaError_t status = Connection::get().call(Op::unload_module, Writer().put(module.id));
        Registry::get().remove_module(&module);
        modules().erase(handle);
        return status;
    });
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
    const CallSite site;
    return with_module(handle, [&](Module& module) {
        Kernel* kernel = nullptr;
        if (function == nullptr || name == nullptr || *name == '\0') return cudaErrorInvalidValue;
        const cudaError_t status = Registry::get().find_kernel(module, name, kernel);
        if (status == cudaSuccess) *function = reinterpret_cast<CUfunction>(kernel);
        return status;
    });
}

CUresult CUDAAPI cuModuleGetGlobal(CUdeviceptr* pointer, std::size_t* bytes, CUmodule handle, const char* name) {
    const CallSite site;
    return with_module(handle, [&](Module& module) {
        std::uint64_t address = 0, size = 0;
        if (name == nullptr || (pointer == nullptr && bytes == nullptr)) return cudaErrorInvalidValue;
        const cudaError_t status = Registry::get().find_variable(module, name, address, size);
        if (status == cudaSuccess && pointer != nullptr) *pointer = address;
        if (status == cudaSuccess && bytes != nullptr) *bytes = size;
        return status;
    });
}

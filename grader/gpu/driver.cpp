#include "gpu/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "device/device.hpp"

namespace warpgrade::gpu {
namespace {

// The name that the header gives the function's current version: "cuMemAlloc_v2".
#define WG_TEXT(name) #name
#define WG_NAME(name) WG_TEXT(name)

template <class Function>
void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (!function)
        throw std::runtime_error(fmt::format(
            "no NVIDIA GPU that this program can use: the driver is older than CUDA 13 and lacks {}", name));
}

Driver load() {
    // Kernels are loaded with their module, so that none is loaded while it is timed.
    ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error("no NVIDIA GPU: this machine has no driver of one (libcuda.so.1)");
    Driver found;
#define WG_DRIVER(function) find(library, WG_NAME(function), found.function);
#include "gpu/functions.def"
#undef WG_DRIVER
    return found;
}

}  // namespace

const Driver& driver() {
    static const Driver loaded = load();
    return loaded;
}

std::string error_text(CUresult result) {
    const char* text = nullptr;
    driver().cuGetErrorString(result, &text);
    return text ? text : fmt::format("error {}", static_cast<int>(result));
}

bool is_sticky(CUresult result) {
    constexpr CUresult sticky[] = {CUDA_ERROR_ECC_UNCORRECTABLE,    CUDA_ERROR_ILLEGAL_ADDRESS,
                                   CUDA_ERROR_LAUNCH_TIMEOUT,       CUDA_ERROR_ASSERT,
                                   CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                                   CUDA_ERROR_MISALIGNED_ADDRESS,   CUDA_ERROR_INVALID_ADDRESS_SPACE,
                                   CUDA_ERROR_INVALID_PC,           CUDA_ERROR_LAUNCH_FAILED,
                                   CUDA_ERROR_CONTEXT_IS_DESTROYED};
    return std::ranges::find(sticky, result) != std::end(sticky);
}

void check(CUresult result, const std::string& what) {
    if (result == CUDA_SUCCESS) return;
    throw device::DeviceError(static_cast<int>(result), fmt::format("{}: {}", what, error_text(result)),
                              is_sticky(result));
}

}  // namespace warpgrade::gpu

// Functions that CUDA's device runtime provides to kernels: printf, assert, malloc, free, launches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpgrade::vgpu {

enum class Builtin : std::uint8_t {
    Printf,
    AssertFail,
    Malloc,
    Free,
    ParameterBuffer,
    LaunchDevice,
    LastError,
    PeekError
};

std::optional<Builtin> find_builtin(std::string_view name);

// True if the function belongs to the library through which kernels launch kernels (dynamic parallelism).
bool is_device_runtime(std::string_view name);

// Why a kernel cannot call a function: the virtual GPU lacks this part of the device runtime, or the function is
// defined nowhere.
std::string explain_uncallable(std::string_view name);

}  // namespace warpgrade::vgpu

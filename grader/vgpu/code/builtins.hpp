// Functions that the device's runtime provides to kernels, by name: printf, assert, malloc, free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpgrade::vgpu {

enum class Builtin : std::uint8_t { Printf, AssertFail, Malloc, Free };

std::optional<Builtin> find_builtin(std::string_view name);

// Whether it belongs to the library through which kernels launch kernels (dynamic parallelism).
bool is_device_runtime(std::string_view name);

// Why a function that the device's runtime would provide is not here; for functions that nobody provides, that.
std::string why_not_callable(std::string_view name);

}  // namespace warpgrade::vgpu

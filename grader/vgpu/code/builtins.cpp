#include "vgpu/code/builtins.hpp"

#include <fmt/format.h>

#include <utility>

namespace warpgrade::vgpu {

std::optional<Builtin> find_builtin(std::string_view name) {
    static constexpr std::pair<std::string_view, Builtin> builtins[] = {
        {"vprintf", Builtin::Printf},
        {"__assertfail", Builtin::AssertFail},
        {"malloc", Builtin::Malloc},
        {"free", Builtin::Free},
        // nvcc makes these two of a <<<…>>> in a kernel.
        {"__cudaCDP2GetParameterBufferV2", Builtin::ParameterBuffer},
        {"__cudaCDP2LaunchDeviceV2", Builtin::LaunchDevice},
        {"__cudaCDP2GetLastError", Builtin::LastError},
        {"__cudaCDP2PeekAtLastError", Builtin::PeekError}};
    for (const auto& [its_name, builtin] : builtins)
        if (its_name == name) return builtin;
    return std::nullopt;
}

bool is_device_runtime(std::string_view name) {
    return name.starts_with("cudaLaunchDevice") || name.starts_with("cudaGetParameterBuffer") ||
           name.starts_with("__cudaCDP");
}

std::string explain_uncallable(std::string_view name) {
    if (is_device_runtime(name))
        return fmt::format(
            "'{}': of dynamic parallelism, the virtual GPU supports launches and cudaGetLastError in kernels, and not "
            "this function",
            name);
    return fmt::format("function '{}' is not supported or not defined here", name);
}

}  // namespace warpgrade::vgpu

#include "vgpu/code/builtins.hpp"

#include <fmt/format.h>

#include <utility>

namespace warpgrade::vgpu {

std::optional<Builtin> find_builtin(std::string_view name) {
    static constexpr std::pair<std::string_view, Builtin> builtins[] = {{"vprintf", Builtin::Printf},
                                                                        {"__assertfail", Builtin::AssertFail},
                                                                        {"malloc", Builtin::Malloc},
                                                                        {"free", Builtin::Free}};
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
            "'{}': launches and runtime calls in a kernel (dynamic parallelism) are not supported by the "
            "virtual GPU",
            name);
    return fmt::format("function '{}' is not supported or not defined here", name);
}

}  // namespace warpgrade::vgpu

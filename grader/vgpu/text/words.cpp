#include "vgpu/text/words.hpp"

#include "vgpu/text/demangled_size.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace warpgrade::vgpu {

std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return digits;
}

std::string counted(std::uint64_t number, std::string_view singular) {
    return grouped(number) + ' ' + std::string(singular) + (number == 1 ? "" : "s");
}

std::string also(std::uint64_t others) {
    return others == 1 ? "one more thread of its warp does" : grouped(others) + " more threads of its warp do";
}

std::string demangled(const std::string& mangled) {
    // References to earlier parts can double a name repeatedly, so its size is bounded first.
    constexpr std::size_t max_demangled_bytes = 1 << 16, max_name_bytes = 4000;
    if (!mangled.starts_with("_Z") || mangled.size() > max_name_bytes ||
        demangled_size(mangled, max_demangled_bytes) > max_demangled_bytes)
        return {};
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text && std::strlen(text.get()) <= max_name_bytes ? text.get() : std::string{};
}

std::string readable_name(const std::string& mangled) {
    std::string name = demangled(mangled);
    if (name.empty()) return mangled;
    // Cut the parameter list: the last '(' at depth 0 of <> that is not part of "(anonymous namespace)".
    int depth = 0;
    std::size_t cut = std::string::npos;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '<')
            ++depth;
        else if (name[i] == '>')
            --depth;
        else if (name[i] == '(' && depth == 0 && name.compare(i, 11, "(anonymous ") != 0) {
            cut = i;
            break;
        }
    }
    if (cut != std::string::npos) name.resize(cut);
    // A function template's name comes with its return type.
    if (name.starts_with("void ")) name.erase(0, 5);
    return name;
}

std::string variable_name(const std::string& symbol) {
    // nvcc's optimizer may split a variable: its parts are "…_$_0", "…_$_1".
    const std::string mangled = symbol.substr(0, symbol.find("_$_"));
    const std::string readable = demangled(mangled);
    const std::string& name = readable.empty() ? mangled : readable;
    const std::size_t scope = name.rfind("::");
    return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace warpgrade::vgpu

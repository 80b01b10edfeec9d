#include "vgpu/words.hpp"

#include <cxxabi.h>

#include <cstdlib>
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

std::string variable_name(const std::string& mangled) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    const std::string name = status == 0 && text ? text.get() : mangled;
    const std::size_t scope = name.rfind("::");
    return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace warpgrade::vgpu

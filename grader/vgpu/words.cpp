#include "vgpu/words.hpp"

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
    // The longest that it can get: a reference to an earlier part (S_, S1A_) may double what is there, one to a
    // template's argument (T_, T0_) adds no more than that. Of CUB's and Thrust's kernels none comes near.
    constexpr std::size_t most_work = std::size_t{32} << 20, most_bytes = 4000, longest_number = 3;
    if (!mangled.starts_with("_Z") || mangled.size() > most_bytes) return {};
    std::size_t longest = mangled.size(), arguments = 1;
    for (std::size_t at = 0; at < mangled.size() && longest * arguments <= most_work; ++at) {
        if (mangled[at] != 'S' && mangled[at] != 'T') continue;
        const std::size_t end = mangled.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", at + 1);
        if (end == std::string::npos || mangled[end] != '_' || end - at > longest_number + 1) continue;
        if (mangled[at] == 'S')
            longest *= 2;
        else
            ++arguments;
    }
    if (longest * arguments > most_work) return {};
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text && std::strlen(text.get()) <= most_bytes ? text.get() : std::string{};
}

std::string variable_name(const std::string& mangled) {
    const std::string readable = demangled(mangled);
    const std::string& name = readable.empty() ? mangled : readable;
    const std::size_t scope = name.rfind("::");
    return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace warpgrade::vgpu

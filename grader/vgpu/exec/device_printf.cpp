// printf in kernels, conversion by conversion, as the host's printf would write it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>

#include "vgpu/exec/builtins.hpp"

namespace warpgrade::vgpu {
namespace {

constexpr int max_arguments = 32;  // of CUDA's printf, besides the format
constexpr std::size_t max_field_width = 4096;

// Takes the arguments in order, each aligned to its size.
class Arguments {
  public:
    Arguments(const Warp& w, const Insn& in, unsigned lane, std::uint64_t at) : w_(w), in_(in), lane_(lane), at_(at) {}

    template <class T>
    T take() {
        if (++taken > max_arguments) return T{};
        at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        std::array<std::byte, sizeof(T)> bytes;
        for (auto& b : bytes) b = read_byte(w_, in_, lane_, at_++);
        return std::bit_cast<T>(bytes);
    }
    int taken = 0;

  private:
    const Warp& w_;
    const Insn& in_;
    unsigned lane_;
    std::uint64_t at_;
};

// "%-8.3lld": flags, width and precision between the % and the letter, with the values of * filled in.
struct Conversion {
    std::string spec = "%";
    std::string length;  // "hh", "h", "l", "ll" …
    char letter = 0;
};

// Reads one conversion; `i` is just after the % and moves to just after the letter. False if the format ends within it.
bool read_conversion(const std::string& format, std::size_t& i, Arguments& arguments, Conversion& c) {
    const auto at = [&](std::string_view set) { return i < format.size() && set.find(format[i]) != set.npos; };
    const auto number = [&] {
        int value = 0;
        if (at("*")) {
            ++i;
            value = arguments.take<std::int32_t>();
        } else {
            for (; at("0123456789"); ++i) value = std::min(value * 10 + (format[i] - '0'), int{max_field_width});
        }
        return std::clamp(value, -int{max_field_width}, int{max_field_width});
    };
    while (at("-+ #0")) {
        if (c.spec.find(format[i]) == c.spec.npos) c.spec += format[i];
        ++i;
    }
    if (at("*123456789")) {
        const int width = number();
        c.spec += std::to_string(width);  // a negative one from * means the flag - and a width
    }
    if (at(".")) {
        ++i;
        const int precision = number();
        if (precision >= 0) c.spec += fmt::format(".{}", precision);
    }
    while (at("lhzjtL")) c.length += format[i++];
    if (i >= format.size()) return false;
    c.letter = format[i++];
    return true;
}

template <class T>
std::string print(const Conversion& c, std::string_view length, T value) {
    const std::string how = c.spec + std::string(length) + c.letter;
    std::array<char, 2 * max_field_width> field;
    const int size = std::snprintf(field.data(), field.size(), how.c_str(), value);
    return {field.data(), std::min<std::size_t>(static_cast<std::size_t>(std::max(size, 0)), field.size() - 1)};
}

std::string convert(const Conversion& c, Arguments& arguments, const Warp& w, const Insn& in, unsigned lane) {
    const bool wide = c.length.find_first_of("lzjt") != c.length.npos;
    const std::string_view narrow = c.length == "hh" || c.length == "h" ? std::string_view(c.length) : "";
    switch (c.letter) {
        case 'd':
        case 'i':
            return wide ? print(c, "ll", static_cast<long long>(arguments.take<std::int64_t>()))
                        : print(c, narrow, arguments.take<std::int32_t>());
        case 'u':
        case 'x':
        case 'X':
        case 'o':
            return wide ? print(c, "ll", static_cast<unsigned long long>(arguments.take<std::uint64_t>()))
                        : print(c, narrow, arguments.take<std::uint32_t>());
        case 'c':
            return print(c, "", arguments.take<std::int32_t>());
        case 'f':
        case 'F':
        case 'e':
        case 'E':
        case 'g':
        case 'G':
        case 'a':
        case 'A':
            return print(c, "", arguments.take<double>());
        case 'p':
            return print(c, "", std::bit_cast<const void*>(arguments.take<std::uint64_t>()));
        case 's': {
            const auto address = arguments.take<std::uint64_t>();
            const std::string text = address ? read_string(w, in, lane, address) : "(null)";
            return print(c, "", text.c_str());
        }
        default:
            return c.spec + c.length + c.letter;  // unknown conversions are printed unchanged
    }
}

}  // namespace

Printed format_printf(const Warp& w, const Insn& in, unsigned lane, const std::string& format, std::uint64_t at) {
    Printed out;
    Arguments arguments(w, in, lane, at);
    for (std::size_t i = 0; i < format.size();) {
        if (format[i] != '%') {
            out.text += format[i++];
            continue;
        }
        if (++i < format.size() && format[i] == '%') {
            out.text += format[i++];
            continue;
        }
        Conversion c;
        if (!read_conversion(format, i, arguments, c)) break;
        out.text += convert(c, arguments, w, in, lane);
    }
    out.arguments = std::min(arguments.taken, max_arguments);
    return out;
}

}  // namespace warpgrade::vgpu

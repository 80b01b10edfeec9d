#include "judge/arguments.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace warpgrade::judge {

std::string describe(const CallSpec& spec) {
    std::string text = spec.function + '(';
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
        const auto& argument = spec.arguments[i];
        if (i) text += ", ";
        const char* type = wire::name_of(argument.type);
        switch (argument.kind) {
            case wire::Kind::scalar:
                text += argument.text;
                break;
            case wire::Kind::in:
                text += fmt::format("in {} {}", argument.count, type);
                break;
            case wire::Kind::out:
                text += fmt::format("out {} {}", argument.count, type);
                break;
            case wire::Kind::inout:
                text += fmt::format("inout {} {}", argument.count, type);
                break;
            case wire::Kind::null_pointer:
                text += "nullptr";
                break;
        }
    }
    return text + ')';
}

void detail::scalar_does_not_fit(const std::string& value) {
    throw std::invalid_argument("a test passes " + value + " to a parameter that cannot hold it");
}

}  // namespace warpgrade::judge

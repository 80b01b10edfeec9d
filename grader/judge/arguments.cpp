#include "judge/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "judge/context.hpp"

namespace warpgrade::judge {

std::string describe(const CallSpec& spec) {
    std::string text = spec.function + '(';
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
        const auto& argument = spec.arguments[i];
        if (i) text += ", ";
        const bool named = i < spec.parameters.size();
        if (argument.kind == wire::Kind::scalar || argument.kind == wire::Kind::null_pointer) {
            if (named) text += spec.parameters[i] + " = ";
            text += argument.kind == wire::Kind::scalar ? argument.text : "nullptr";
        } else {
            if (named) text += spec.parameters[i] + ": ";
            text += fmt::format("{} {}", argument.count, wire::name_of(argument.type));
        }
    }
    return text + ')';
}

std::string name_of_argument(const CallSpec& spec, std::size_t index) {
    return index < spec.parameters.size() ? spec.parameters[index] : fmt::format("argument {}", index + 1);
}

std::map<std::string, std::vector<std::string>> parse_parameters(const std::vector<std::string>& entries) {
    std::map<std::string, std::vector<std::string>> names;
    for (const std::string& entry : entries) {
        const auto end = std::min(entry.find('='), entry.size());
        std::istringstream list(entry.substr(std::min(end + 1, entry.size())));
        for (std::string name; std::getline(list, name, ',');) names[entry.substr(0, end)].push_back(name);
    }
    return names;
}

std::vector<std::string> parameter_names(const std::string& function) {
    const auto& known = context().parameters;
    const auto found = known.find(function);
    return found == known.end() ? std::vector<std::string>() : found->second;
}

void detail::scalar_does_not_fit(const std::string& value) {
    throw std::invalid_argument("a test passes " + value + " to a parameter that cannot hold it");
}

}  // namespace warpgrade::judge

#include "judge/assertion.hpp"

#include <algorithm>
#include <string_view>

namespace warpgrade::judge {
namespace {

bool is_plain_name(std::string_view text) {
    constexpr std::string_view digits = "0123456789", letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    const auto is_part = [&](char c) { return letters.find(c) != letters.npos || digits.find(c) != digits.npos; };
    return !text.empty() && digits.find(text[0]) == digits.npos && std::ranges::all_of(text, is_part);
}

// C or C[3]; else "the result".
std::string name_of(std::string_view text) {
    const auto bracket = std::min(text.find('['), text.size());
    const auto index = text.substr(bracket);
    const bool indexed = index.size() > 2 && index.find_first_not_of("[0123456789]") == index.npos;
    return is_plain_name(text.substr(0, bracket)) && (index.empty() || indexed) ? std::string(text) : "the result";
}

// Catch2 adds the hexadecimal form to large numbers.
std::string without_hexadecimal(std::string text) {
    for (std::size_t begin = 0; (begin = text.find(" (0x", begin)) != text.npos;) {
        const auto end = text.find_first_not_of("0123456789abcdef", begin + 4);
        if (end != text.npos && text[end] == ')')
            text.erase(begin, end + 1 - begin);
        else
            begin += 4;
    }
    return text;
}

struct Sign {
    std::string_view text, words;
};
constexpr Sign signs[] = {{" == ", ""},          {" != ", "anything but "}, {" <= ", "at most "},
                          {" >= ", "at least "}, {" < ", "less than "},     {" > ", "more than "}};

}  // namespace

std::string checked_value(const std::string& expression) {
    return name_of(std::string_view(expression).substr(0, expression.find(',')));
}

std::string explain_assertion(const std::string& macro, const std::string& expression, const std::string& expanded) {
    const bool negated = macro.find("FALSE") != macro.npos;
    const auto values = without_hexadecimal(expanded);
    if (!negated) {
        for (const auto& [text, words] : signs) {
            const auto in_expression = expression.find(text), in_values = values.find(text);
            if (in_expression == expression.npos || in_values == values.npos) continue;
            return name_of(std::string_view(expression).substr(0, in_expression)) + ": " + values.substr(0, in_values) +
                   ", expected " + std::string(words) + values.substr(in_values + text.size());
        }
    }
    return name_of(expression) + ": " + (negated ? "true, expected false" : "false, expected true");
}

}  // namespace warpgrade::judge

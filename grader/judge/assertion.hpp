// Words a failed assertion of Catch2. Tests should name what they check (judge/measures.hpp). For those that do not,
// the message shows plain names and values, but no expressions, which mean nothing to students.
#pragma once

#include <string>

namespace warpgrade::judge {

// The checked value in the text of an assertion with a matcher: "C" in "C, near(expected)", "the result" if it is not a
// plain name.
std::string checked_value(const std::string& expression);
// For an assertion without a matcher; `expanded` is the expression with its values.
std::string explain_assertion(const std::string& macro, const std::string& expression, const std::string& expanded);

}  // namespace warpgrade::judge

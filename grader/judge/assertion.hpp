// An assertion of Catch2 in words. A test names what it checks (judge/measures.hpp); where one does not, no expression
// of the test is shown, which would mean nothing to a student: plain names are, and values.
#pragma once

#include <string>

namespace warpgrade::judge {

// The value's name in "C, near(expected)", the text of an assertion with a matcher; of all but a plain name "the
// result".
std::string checked_value(const std::string& expression);
// A failed assertion without a matcher, from Catch2's macro, the expression, and the expression with its values.
std::string explain_assertion(const std::string& macro, const std::string& expression, const std::string& expanded);

}  // namespace warpgrade::judge

// The checks' findings about the submission, for tests that give points for a program without mistakes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "judge/submission.hpp"

namespace warpgrade::judge {

class Clean {
  public:
    explicit Clean(std::string check) : check_(std::move(check)) {}
    bool match(const Profile& run) const;
    [[nodiscard]] std::string toString() const { return "has no mistakes"; }

  private:
    std::string check_;
};

// `CHECK_THAT(run, clean())`: the checks found no error in that call; warnings and advice do not count. With the name
// of a check, as in clean("racecheck"), only that check's errors count. If --checks has switched it off, the test's
// outcome is an error.
inline Clean clean(std::string check = {}) { return Clean(std::move(check)); }

// Ignores findings of this rule until the test ends, for tests that ask for what a check calls a mistake, such as a
// launch that cannot work. Throws std::logic_error if there is no such rule.
void expect_findings(std::string_view rule);

// Adds the findings of a call of `function` to the verdict, except those that the test expects. Those that belong to
// no call, as when the program ends, have no function.
void collect_findings(std::vector<device::Diagnostic> found, const std::string& function);

}  // namespace warpgrade::judge

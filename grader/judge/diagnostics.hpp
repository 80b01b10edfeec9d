// What the device's checks found in the submission, for tests that give points for a program without mistakes.
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
// of a check, as in clean("racecheck"), only its errors do. Where --checks has switched a check off that it needs, the
// test is an error, not a pass.
inline Clean clean(std::string check = {}) { return Clean(std::move(check)); }

// For a test that asks for what a check calls a mistake, such as a launch that cannot work: findings of this rule are
// no mistakes until the test ends. Throws std::logic_error where there is no such rule.
void expect_findings(std::string_view rule);

// Keeps what the checks found in a call for the verdict, but for what the test expects.
void collect_findings(std::vector<device::Diagnostic> found);

// Adds `found` to `known`: the same finding, in the same place, counts up.
void merge(std::vector<device::Diagnostic>& known, std::vector<device::Diagnostic> found);

}  // namespace warpgrade::judge

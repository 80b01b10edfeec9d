#include "judge/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "device/record_limits.hpp"
#include "judge/context.hpp"
#include "judge/errors.hpp"
#include "judge/explain.hpp"
#include "judge/measures.hpp"

namespace warpgrade::judge {
namespace {

constexpr std::size_t max_named = 3;

void require(std::string_view check) {
    const auto& checks = context().checks;
    const std::pair<std::string_view, bool> switched[] = {
        {"racecheck", checks.race}, {"initcheck", checks.init}, {"synccheck", checks.sync}};
    for (const auto& [name, on] : switched)
        if (!on && (check.empty() || check == name))
            throw InfrastructureError(fmt::format("this test asks for {}, which --checks has switched off", name));
}

std::string describe(const device::Diagnostic& found) {
    std::string text = fmt::format("{} ({})", found.rule->title, found.rule->id);
    if (!found.place.file.empty()) text += fmt::format(" at {}:{}", tame(found.place.file), found.place.line);
    return text;
}

bool is_expected(const device::Diagnostic& found) {
    return std::ranges::find(context().expected_findings, found.rule) != context().expected_findings.end();
}

}  // namespace

bool Clean::match(const Profile& run) const {
    require(check_);
    std::vector<std::string> mistakes;
    for (const auto& found : run.diagnostics) {
        const std::string_view id = found.rule->id;
        if (is_expected(found)) continue;
        if (found.rule->severity == device::Severity::Error && (check_.empty() || id.starts_with(check_ + '/')))
            mistakes.push_back(describe(found));
    }
    if (mistakes.empty()) return true;
    const auto named = std::min(mistakes.size(), max_named);
    std::string text = mistakes.size() == 1 ? "the checks found a mistake: "
                                            : fmt::format("the checks found {} mistakes: ", mistakes.size());
    for (std::size_t i = 0; i < named; ++i) text += (i ? "; " : "") + mistakes[i];
    if (mistakes.size() > named) text += fmt::format("; and {} more", mistakes.size() - named);
    detail::explain_failure(std::move(text));
    return false;
}

void expect_findings(std::string_view rule) {
    const device::Rule* known = device::find_rule(rule);
    if (!known) throw std::logic_error(fmt::format("the checks have no rule {}", rule));
    context().expected_findings.push_back(known);
}

void collect_findings(std::vector<device::Diagnostic> found, const std::string& function) {
    for (auto& one : found) {
        if (is_expected(one)) continue;
        if (one.rule->severity == device::Severity::Error && !function.empty())
            context().faulty.try_emplace(function, one.rule->id);
        device::add_finding(context().diagnostics, std::move(one), device::RecordLimits::max_diagnostics);
    }
}

}  // namespace warpgrade::judge

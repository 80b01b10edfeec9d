#include "device/diagnostic.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace warpgrade::device {

const Rule* find_rule(std::string_view id) {
    static constexpr const Rule* all[] = {
#define WG_RULE(constant, id, severity, title, help) &rules::constant,
#include "device/rules.def"
#undef WG_RULE
    };
    for (const Rule* rule : all)
        if (id == rule->id) return rule;
    return nullptr;
}

namespace {

bool is_same_finding(const Diagnostic& a, const Diagnostic& b) {
    return a.rule == b.rule && a.place == b.place && a.kernel == b.kernel &&
           std::ranges::equal(a.related, b.related, {}, &RelatedPlace::place, &RelatedPlace::place) &&
           a.place != SourcePlace{};
}

// The finding to drop for the new one; end() if there is none.
std::vector<Diagnostic>::iterator find_replaceable(std::vector<Diagnostic>& list, const Diagnostic& finding) {
    const auto severity = [](const Diagnostic& d) { return d.rule->severity; };  // an error has the smallest value
    const auto mildest = std::ranges::max_element(list, {}, severity);
    if (severity(*mildest) > severity(finding)) return mildest;
    if (severity(*mildest) < severity(finding)) return list.end();
    std::map<const Rule*, std::size_t> counts;
    for (const Diagnostic& d : list) ++counts[d.rule];
    if (counts.contains(finding.rule)) return list.end();
    const auto most = std::ranges::max_element(
        list, {}, [&](const Diagnostic& d) { return severity(d) == severity(finding) ? counts[d.rule] : 0; });
    if (counts[most->rule] < 2) return list.end();
    // The rule's last finding goes, so that its first one stays.
    const auto last =
        std::find_if(list.rbegin(), list.rend(), [&](const Diagnostic& d) { return d.rule == most->rule; });
    return std::prev(last.base());
}

}  // namespace

bool add_finding(std::vector<Diagnostic>& list, Diagnostic finding, std::size_t most) {
    const auto same = std::ranges::find_if(list, [&](const Diagnostic& d) { return is_same_finding(d, finding); });
    if (same != list.end()) {
        same->count += finding.count;
        same->weight += finding.weight;
        return true;
    }
    const bool is_full = list.size() >= most;
    if (is_full) {
        const auto replaceable = find_replaceable(list, finding);
        if (replaceable == list.end()) return false;
        list.erase(replaceable);
    }
    list.push_back(std::move(finding));
    return !is_full;
}

}  // namespace warpgrade::device

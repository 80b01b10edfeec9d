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

bool same_finding(const Diagnostic& a, const Diagnostic& b) {
    return a.rule == b.rule && a.place == b.place && a.kernel == b.kernel &&
           std::ranges::equal(a.related, b.related, {}, &RelatedPlace::place, &RelatedPlace::place) &&
           a.place != SourcePlace{};
}

// Which of them gives way to `one`; end(): none.
std::vector<Diagnostic>::iterator least_needed(std::vector<Diagnostic>& known, const Diagnostic& one) {
    const auto severity = [](const Diagnostic& d) { return d.rule->severity; };  // the worst is the least
    const auto least = std::ranges::max_element(known, {}, severity);
    if (severity(*least) > severity(one)) return least;
    if (severity(*least) < severity(one)) return known.end();
    std::map<const Rule*, std::size_t> counts;
    for (const Diagnostic& d : known) ++counts[d.rule];
    if (counts.contains(one.rule)) return known.end();
    const auto most = std::ranges::max_element(
        known, {}, [&](const Diagnostic& d) { return severity(d) == severity(one) ? counts[d.rule] : 0; });
    if (counts[most->rule] < 2) return known.end();
    // Its last one, so that the first stays.
    const auto last =
        std::find_if(known.rbegin(), known.rend(), [&](const Diagnostic& d) { return d.rule == most->rule; });
    return std::prev(last.base());
}

}  // namespace

bool keep(std::vector<Diagnostic>& known, Diagnostic one, std::size_t most) {
    const auto same = std::ranges::find_if(known, [&](const Diagnostic& other) { return same_finding(other, one); });
    if (same != known.end()) {
        same->count += one.count;
        same->weight += one.weight;
        return true;
    }
    if (known.size() >= most) {
        const auto gives_way = least_needed(known, one);
        if (gives_way == known.end()) return false;
        known.erase(gives_way);
        known.push_back(std::move(one));
        return false;
    }
    known.push_back(std::move(one));
    return true;
}

}  // namespace warpgrade::device

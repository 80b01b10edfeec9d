#include "vgpu/shadow/findings.hpp"

#include <algorithm>
#include <string_view>

namespace warpgrade::vgpu {

device::Diagnostic* Findings::add(const device::Rule& rule, std::uint64_t block, std::uint32_t insn,
                                  std::uint32_t other) {
    Entry entry{&rule, insn, other, block, {}};
    const auto known = std::ranges::find_if(entries_, [&](const Entry& e) { return e.same(entry); });
    if (known != entries_.end()) {
        ++known->diagnostic.count;
        return nullptr;
    }
    const bool full = entries_.size() >= max_noted;
    if (full && std::ranges::any_of(entries_, [&](const Entry& e) { return e.rule == &rule; })) return nullptr;
    entry.diagnostic.rule = &rule;
    entries_.push_back(std::move(entry));
    return &entries_.back().diagnostic;
}

std::vector<device::Diagnostic> Findings::merge(std::span<Findings* const> parts) {
    std::vector<Entry> all;
    for (Findings* part : parts)
        for (Entry& entry : part->entries_) {
            const auto known = std::ranges::find_if(all, [&](const Entry& e) { return e.same(entry); });
            if (known == all.end()) {
                all.push_back(std::move(entry));
                continue;
            }
            const std::uint64_t count = known->diagnostic.count + entry.diagnostic.count;
            if (entry.block < known->block) *known = std::move(entry);
            known->diagnostic.count = count;
        }
    // Entries of one block come from one host thread, so a stable sort keeps their order.
    std::ranges::stable_sort(all, {}, &Entry::block);
    std::vector<device::Diagnostic> result;
    for (Entry& entry : all) {
        if (result.size() < max_findings) {
            result.push_back(std::move(entry.diagnostic));
            continue;
        }
        // The first finding of a rule replaces the last finding whose rule has others: no kind of mistake hides
        // another.
        const auto count = [&](const device::Rule* rule) {
            return std::ranges::count(result, rule, &device::Diagnostic::rule);
        };
        if (count(entry.rule) > 0) continue;
        const auto gives_way = std::find_if(result.rbegin(), result.rend(),
                                            [&](const device::Diagnostic& d) { return count(d.rule) > 1; });
        if (gives_way != result.rend()) *gives_way = std::move(entry.diagnostic);
    }
    return result;
}

namespace {

bool is_race(const device::Diagnostic& d) { return std::string_view(d.rule->id).starts_with("racecheck/"); }

bool is_covered(const device::Diagnostic& d, const std::vector<device::Diagnostic>& all) {
    // A thread that reads before others have written finds nothing there: that is the race again.
    if (d.rule == &device::rules::uninitialized_shared)
        return std::ranges::any_of(all, [&](const device::Diagnostic& race) {
            const auto involved = [&](const device::SourcePlace& place) {
                return place == d.place || place == d.related.front().place;
            };
            return is_race(race) && race.rule != &device::rules::race_global &&
                   (involved(race.place) || involved(race.related.front().place));
        });
    // A race with an unknown party is left out if one with a known party is there, and so is a race inside a warp that
    // is also one between warps.
    if (!is_race(d)) return false;
    const auto places = [](const device::Diagnostic& race) {
        const auto &a = race.place, &b = race.related.front().place;
        return std::pair(std::min(a.line, b.line), std::max(a.line, b.line));
    };
    const bool known = d.related.front().thread.has_value(), in_warp = d.rule == &device::rules::race_warp;
    return std::ranges::any_of(all, [&](const device::Diagnostic& other) {
        const bool wider = in_warp && (other.rule == &device::rules::race_shared);
        if ((other.rule != d.rule && !wider) || !other.related.front().thread) return false;
        return known ? wider && places(other) == places(d) : other.place == d.place;
    });
}

}  // namespace

void tidy(std::vector<device::Diagnostic>& diagnostics) {
    const std::vector<device::Diagnostic> all = diagnostics;
    std::erase_if(diagnostics, [&](const device::Diagnostic& d) { return is_covered(d, all); });
}

}  // namespace warpgrade::vgpu

#include "judge/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "judge/context.hpp"

namespace warpgrade::judge {
namespace {

// 1,048,576, from five digits on.
std::string group_digits(std::string digits) {
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    if (digits.size() - first < 5) return digits;
    for (std::size_t i = digits.size() - 3; i > first && i < digits.size(); i -= 3) digits.insert(i, ",");
    return digits;
}

std::string text(Number number, bool in_full = false) {
    const double value = number.value();
    if (number.is_truth()) return value != 0 ? "true" : "false";
    if (!std::isfinite(value)) return fmt::format("{}", value);
    if (std::trunc(value) == value || (!in_full && std::abs(value) >= 10'000))
        return group_digits(fmt::format("{:.0f}", value));
    return in_full ? fmt::format("{}", value) : fmt::format("{:.5g}", value);
}

std::string with_unit(std::string number, const std::string& unit) {
    return unit.empty() ? number : std::move(number) + ' ' + unit;
}

Measure count(const char* name, std::uint64_t value) { return {name, value, {}}; }

const char* relation_name(Good::Relation relation) {
    switch (relation) {
        case Good::Relation::equal:
            return "is";
        case Good::Relation::at_most:
            return "at most";
        case Good::Relation::at_least:
            return "at least";
        case Good::Relation::below:
            return "below";
        case Good::Relation::between:
            break;
    }
    return "between";
}

std::string direction(device::TransferRecord::Kind kind) {
    switch (kind) {
        case device::TransferRecord::Kind::to_device:
            return "to the device";
        case device::TransferRecord::Kind::to_host:
            return "to the host";
        case device::TransferRecord::Kind::within_device:
            return "within the device";
        case device::TransferRecord::Kind::fill:
            break;
    }
    return "by cudaMemset";
}

}  // namespace

Measure operator*(double factor, const Measure& of) {
    return {fmt::format("{} × {}", factor, of.name), factor * of.number.value(), of.unit};
}

Good::Good(Relation relation, Limit limit, std::string words, std::optional<Number> upper)
    : relation_(relation),
      limit_(limit.number),
      upper_(upper.value_or(limit.number)),
      words_(words.empty() ? limit.words : std::move(words)) {}

Good Good::none_at(Number value) const {
    if (relation_ == Relation::below || relation_ == Relation::between)
        throw std::logic_error("a band needs one limit");
    Good band = *this;
    if (!holds(value.value())) band.worst_ = value;
    return band;
}

bool Good::match(const Measure& measured) const {
    if (holds(measured.number.value())) return record(measured, "pass"), true;
    if (const double of_points = part(measured.number.value()); of_points > 0) {
        record(measured, "part");
        auto& current = context();
        if (of_points < current.part) current.part = of_points, current.part_reason = explain_part(measured);
        return true;
    }
    record(measured, "fail");
    detail::explain_failure(explain(measured));
    return false;
}

void Good::record(const Measure& measured, const char* outcome) const {
    const double now = measured.number.value();
    auto& checked = context().checked;
    if (measured.number.is_truth() || !std::isfinite(now) || !std::isfinite(limit_.value()) ||
        !std::isfinite(upper_.value()) || checked.size() >= max_checks)
        return;
    const bool two_limits = relation_ == Relation::between;
    checked.push_back({measured.name, now, measured.unit, relation_name(relation_), limit_.value(),
                       two_limits ? std::optional(upper_.value()) : std::nullopt, words_, outcome});
}

// The value is not good itself. Returns 0 for a NaN.
double Good::part(double value) const {
    if (!worst_) return 0;
    const double from_worst = (value - worst_->value()) / (limit_.value() - worst_->value());
    return from_worst > 0 && from_worst < 1 ? from_worst : 0;
}

// False for a NaN.
bool Good::holds(double value) const {
    switch (relation_) {
        case Relation::equal:
            return value == limit_.value();
        case Relation::at_most:
            return value <= limit_.value();
        case Relation::at_least:
            return value >= limit_.value();
        case Relation::below:
            return value < limit_.value();
        case Relation::between:
            return value >= limit_.value() && value <= upper_.value();
    }
    return false;
}

std::string Good::explain(const Measure& measured) const {
    std::string value = text(measured.number), limit = text(limit_), upper = text(upper_);
    if (value == limit || (relation_ == Relation::between && value == upper))  // show the digits that differ
        value = text(measured.number, true), limit = text(limit_, true), upper = text(upper_, true);
    std::string good;
    switch (relation_) {
        case Relation::equal:
            good = limit;
            break;
        case Relation::at_most:
            good = "at most " + limit;
            break;
        case Relation::at_least:
            good = "at least " + limit;
            break;
        case Relation::below:
            good = "less than " + limit;
            break;
        case Relation::between:
            good = limit == upper ? limit : "between " + limit + " and " + upper;
            break;
    }
    return measured.name + ": " + with_unit(std::move(value), measured.unit) + ", expected " +
           with_unit(std::move(good), measured.unit) + (words_.empty() ? "" : " (" + words_ + ')');
}

std::string Good::explain_part(const Measure& measured) const {
    const char* const side = relation_ == Relation::equal     ? ""
                             : relation_ == Relation::at_most ? " or less"
                                                              : " or more";
    return measured.name + ": " + with_unit(text(measured.number), measured.unit) + "; all points at " + text(limit_) +
           side + ", none at " + text(*worst_) + (words_.empty() ? "" : " (" + words_ + ')');
}

Prediction Prediction::within(double part) const {
    Prediction wider = *this;
    wider.within_ = part;
    return wider;
}

bool Prediction::match(Number predicted) const {
    const double value = predicted.value(), measured = measured_.number.value();
    if (described_ && measured == 0) return match_described(value);
    // Predictions are the student's: they may be anything.
    if (std::isfinite(value) && std::isfinite(measured)) {
        context().measurements.push_back({"predicted " + measured_.name, value, measured_.unit});
        context().measurements.push_back({"measured " + measured_.name, measured, measured_.unit});
    }
    if (is_near(value, measured) || (described_ && is_near(value, described_->value()))) return true;
    std::string message = measured_.name + ": predicted " + text(predicted);
    if (described_ && described_->value() != measured)
        message += "; a version as the contract describes it takes " + text(*described_) + ", yours took " +
                   with_unit(text(measured_.number), measured_.unit);
    else
        message += ", measured " + with_unit(text(measured_.number), measured_.unit);
    detail::explain_failure(std::move(message));
    return false;
}

bool Prediction::is_near(double value, double right) const {
    // A part of infinity would be infinity.
    return value == right || (std::isfinite(right) && std::abs(value - right) <= within_ * std::abs(right));
}

bool Prediction::match_described(double value) const {
    const double right = described_->value();
    if (is_near(value, right)) return true;
    const char* const size = value < right ? "small" : "large";
    const double factor = value < right ? right / value : value / right;
    std::string message = fmt::format("{}: predicted {}, which is ", measured_.name, text(Number(value)));
    if (!std::isfinite(factor) || factor <= 0)
        message += fmt::format("too {}", size);
    else if (factor < 1.1)
        message += fmt::format("a little too {}", size);
    else
        message += fmt::format("too {} by a factor of {:.2g}", size, factor);
    detail::explain_failure(std::move(message));
    return false;
}

void detail::explain_failure(std::string message) { context().failure = std::move(message); }

Measure warp_instructions(const Counted& from) { return count("warp instructions", from.counters.inst_executed); }
Measure thread_instructions(const Counted& from) {
    return count("thread instructions", from.counters.thread_inst_executed);
}
Measure warps(const Counted& from) { return count("warps launched", from.counters.warps_launched); }
Measure barriers(const Counted& from) { return count("barriers executed by warps", from.counters.barriers); }
Measure divergent_branches(const Counted& from) {
    return count("divergent branches", from.counters.divergent_branches);
}
Measure global_load_requests(const Counted& from) {
    return count("global-memory load requests", from.counters.global_load_requests + from.counters.texture_requests +
                                                    from.counters.surface_load_requests +
                                                    from.counters.atomic_requests);
}
Measure global_store_requests(const Counted& from) {
    return count("global-memory store requests",
                 from.counters.global_store_requests + from.counters.surface_store_requests);
}
Measure sectors_loaded(const Counted& from) {
    return count("sectors loaded from global memory",
                 from.counters.global_load_sectors + from.counters.texture_sectors +
                     from.counters.surface_load_sectors + from.counters.atomic_sectors);
}
Measure sectors_stored(const Counted& from) {
    return count("sectors stored to global memory",
                 from.counters.global_store_sectors + from.counters.surface_store_sectors);
}
Measure global_atomic_requests(const Counted& from) {
    return count("global-memory atomic requests", from.counters.atomic_requests);
}
Measure shared_load_requests(const Counted& from) {
    return count("shared-memory load requests", from.counters.shared_load_requests);
}
Measure shared_store_requests(const Counted& from) {
    return count("shared-memory store requests", from.counters.shared_store_requests);
}
Measure shared_requests(const Counted& from) {
    return count("shared-memory load and store requests",
                 from.counters.shared_load_requests + from.counters.shared_store_requests);
}
Measure shared_atomic_requests(const Counted& from) {
    return count("shared-memory atomic requests", from.counters.shared_atomic_requests);
}
Measure bank_conflicts(const Counted& from) {
    return count("shared-memory bank conflicts",
                 from.counters.shared_load_bank_conflicts + from.counters.shared_store_bank_conflicts);
}
Measure load_bank_conflicts(const Counted& from) {
    return count("bank conflicts of shared-memory loads", from.counters.shared_load_bank_conflicts);
}
Measure store_bank_conflicts(const Counted& from) {
    return count("bank conflicts of shared-memory stores", from.counters.shared_store_bank_conflicts);
}
Measure local_load_requests(const Counted& from) {
    return count("local-memory load requests", from.counters.local_load_requests);
}
Measure local_store_requests(const Counted& from) {
    return count("local-memory store requests", from.counters.local_store_requests);
}

Measure part_of_busiest_block(const Profile& run) {
    std::uint64_t most = 0;
    for (const auto& launch : run.launches) most = std::max(most, launch.most_block_instructions);
    const auto all = std::max<std::uint64_t>(run.total().inst_executed, 1);
    return {"part of all warp instructions in one block", static_cast<double>(most) / static_cast<double>(all), {}};
}

Measure blocks(const device::LaunchRecord& launch) { return count("blocks in the grid", launch.config.grid.count()); }
Measure threads_per_block(const device::LaunchRecord& launch) {
    return count("threads per block", launch.config.block.count());
}
Measure static_shared_bytes(const device::LaunchRecord& launch) {
    return count("bytes of static shared memory", launch.static_shared_bytes);
}
Measure dynamic_shared_bytes(const device::LaunchRecord& launch) {
    return count("bytes of dynamic shared memory", launch.config.dynamic_shared_bytes);
}

Measure launches(const Profile& run) {
    return count(run.not_part.empty() ? "kernel launches" : "kernel launches that the result comes from",
                 run.launches.size());
}
Measure copies(const Profile& run, device::TransferRecord::Kind kind) {
    std::uint64_t number = 0;
    for (const auto& transfer : run.transfers) number += transfer.kind == kind ? 1 : 0;
    return {(kind == device::TransferRecord::Kind::fill ? "fills " : "copies ") + direction(kind), number, {}};
}
Measure bytes_copied(const Profile& run, device::TransferRecord::Kind kind) {
    std::uint64_t bytes = 0;
    for (const auto& transfer : run.transfers) bytes += transfer.kind == kind ? transfer.bytes : 0;
    return {
        (kind == device::TransferRecord::Kind::fill ? "bytes filled " : "bytes copied ") + direction(kind), bytes, {}};
}

}  // namespace warpgrade::judge

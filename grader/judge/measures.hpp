// Numbers in the words of the task. A measure is a number with a name and a unit; a matcher says what is good:
//     CHECK_THAT(sectors_stored(run), is(m * n / 8, "each element once"));
//     CHECK_THAT(bank_conflicts(padded), at_most(0.1 * bank_conflicts(plain)));
//     CHECK_THAT(measure("operations per load", operations / loads), at_least(TILE_WIDTH));
// A failed check reads "sectors stored to global memory: 2048, expected 512 (each element once)".
//
// A band gives a part of the test's points to what is nearly good: all at the limit, none at another value, linear in
// between. Of several, the smallest part counts; a check that fails takes all points, as ever.
//     CHECK_THAT(sectors_loaded(run), at_most(512).none_at(1024));
//
// A prediction is compared with what was measured, and the report shows both:
//     CHECK_THAT(submission().call<predicted_sectors>(n), predicts(sectors_loaded(run)));
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "device/device.hpp"
#include "device/record.hpp"
#include "judge/submission.hpp"

namespace warpgrade::judge {

// Any number, or a truth. Counts are exact up to 2^53.
class Number {
  public:
    template <class T>
    Number(T value) requires std::is_arithmetic_v<T>  // NOLINT: every number is one
        : value_(static_cast<double>(value)), is_truth_(std::is_same_v<T, bool>) {}
    [[nodiscard]] double value() const { return value_; }
    [[nodiscard]] bool is_truth() const { return is_truth_; }

  private:
    double value_;
    bool is_truth_;
};

struct Measure {
    std::string name;
    Number number;
    std::string unit;
};

// What has no name of its own below: a derived number, or one that the student's function returned.
inline Measure measure(std::string name, Number number, std::string unit = {}) {
    return {std::move(name), number, std::move(unit)};
}
// A limit that depends on another measure, such as 2 * warps(run).
Measure operator*(double factor, const Measure& of);

// A limit, and in words where it comes from: those of the test, or the name of the other measure.
struct Limit {
    template <class T>
    Limit(T value) requires std::is_arithmetic_v<T>  // NOLINT: a number is one
        : number(value) {}
    Limit(const Measure& other) : number(other.number), words(other.name) {}  // NOLINT: a measure is one
    Number number;
    std::string words;
};

class Good {
  public:
    enum class Relation { equal, at_most, at_least, below, between };
    Good(Relation relation, Limit limit, Number upper, std::string words);
    // Makes a band of it; of one limit only. Limits may be measured from the submission: where `value` turns out to be
    // on the good side, there is no band, and what misses the limit fails.
    [[nodiscard]] Good none_at(Number value) const;
    // True within a band; the part of the points that the test is worth falls then.
    [[nodiscard]] bool match(const Measure& measured) const;
    [[nodiscard]] std::string toString() const { return "is as expected"; }

  private:
    [[nodiscard]] bool holds(double value) const;
    [[nodiscard]] double part(double value) const;  // of the points, 0 to 1
    [[nodiscard]] std::string explain(const Measure& measured) const;
    [[nodiscard]] std::string explain_part(const Measure& measured) const;
    Relation relation_;
    Number limit_, upper_;
    std::optional<Number> worst_;
    std::string words_;
};

// `words` say why that is the limit, and stand behind it in the message.
inline Good is(const Limit& right, std::string words = {}) {
    return {Good::Relation::equal, right, 0, std::move(words)};
}
inline Good at_most(const Limit& limit, std::string words = {}) {
    return {Good::Relation::at_most, limit, 0, std::move(words)};
}
inline Good at_least(const Limit& limit, std::string words = {}) {
    return {Good::Relation::at_least, limit, 0, std::move(words)};
}
inline Good below(const Limit& limit, std::string words = {}) {
    return {Good::Relation::below, limit, 0, std::move(words)};
}
// Both included.
inline Good between(const Limit& least, const Limit& most, std::string words = {}) {
    return {Good::Relation::between, least, most.number, std::move(words)};
}

// Whether a student's prediction is what was measured; or else `described`, what a version takes that does just what
// the contract describes: a version of another shape may take less, and one that is not written yet takes more.
class Prediction {
  public:
    Prediction(Measure measured, std::optional<Number> described)
        : measured_(std::move(measured)), described_(described) {}
    // Good is also what is off by no more than this part of what was measured; for speed-ups.
    [[nodiscard]] Prediction within(double part) const;
    [[nodiscard]] bool match(Number predicted) const;
    [[nodiscard]] std::string toString() const { return "is as measured"; }

  private:
    Measure measured_;
    std::optional<Number> described_;
    double within_ = 0;
};
inline Prediction predicts(Measure measured, std::optional<Number> described = {}) {
    return {std::move(measured), described};
}

// What has counters: one launch, or all launches of a call together.
struct Counted {
    Counted(const device::Counters& all) : counters(all) {}                     // NOLINT: counters are counted
    Counted(const device::LaunchRecord& launch) : counters(counted(launch)) {}  // NOLINT: so is a launch
    Counted(const Profile& run) : counters(run.total()) {}                      // NOLINT: and a run
    device::Counters counters;
};

// The counters in Nsight Compute's words. A request is one instruction of one warp, a sector is 32 bytes.
Measure warp_instructions(const Counted& from);
Measure thread_instructions(const Counted& from);
Measure warps(const Counted& from);
Measure barriers(const Counted& from);
Measure divergent_branches(const Counted& from);
// Of global memory, loads are those of every kind: plain ones, texture fetches, loads from surfaces, and atomics, which
// read what they change; stores to surfaces are stores. Constant memory is none of it: whose lanes want different words
// of it pays with time.
Measure global_load_requests(const Counted& from);
Measure global_store_requests(const Counted& from);
Measure sectors_loaded(const Counted& from);
Measure sectors_stored(const Counted& from);
Measure global_atomic_requests(const Counted& from);
Measure shared_load_requests(const Counted& from);
Measure shared_store_requests(const Counted& from);
Measure shared_requests(const Counted& from);  // loads and stores
Measure shared_atomic_requests(const Counted& from);
Measure bank_conflicts(const Counted& from);  // of loads and stores
Measure load_bank_conflicts(const Counted& from);
Measure store_bank_conflicts(const Counted& from);
Measure local_load_requests(const Counted& from);
Measure local_store_requests(const Counted& from);

// The largest part of a run's warp instructions that one block executes: 1 where one block does all, whatever the grid.
Measure part_of_busiest_block(const Profile& run);

// The shape of one launch.
Measure blocks(const device::LaunchRecord& launch);
Measure threads_per_block(const device::LaunchRecord& launch);
Measure static_shared_bytes(const device::LaunchRecord& launch);
Measure dynamic_shared_bytes(const device::LaunchRecord& launch);

// What one call did.
Measure launches(const Profile& run);  // those that the result comes from
Measure copies(const Profile& run, device::TransferRecord::Kind kind);
Measure bytes_copied(const Profile& run, device::TransferRecord::Kind kind);

namespace detail {
// A message that says itself what it is about, for the verdict.
void explain_failure(std::string message);
}  // namespace detail

}  // namespace warpgrade::judge

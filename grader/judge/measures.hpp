// Numbers in the words of the task. A measure is a number with a name and a unit; a matcher says what is good:
//     CHECK_THAT(sectors_stored(run), is(m * n / 8, "each element once"));
//     CHECK_THAT(bank_conflicts(padded), at_most(0.1 * bank_conflicts(plain)));
//     CHECK_THAT(measure("operations per load", operations / loads), at_least(TILE_WIDTH));
// A failed check reads "sectors stored to global memory: 2048, expected 512 (each element once)".
//
// A band gives a part of the test's points to values that are nearly good: all at the limit, none at another value,
// linear in between. Of several bands the smallest part counts. A failed check still takes all points.
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

// A number or a bool. Counts are exact up to 2^53.
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

// Names a number that has no function below: a derived one, or one that the student's function returned.
inline Measure measure(std::string name, Number number, std::string unit = {}) {
    return {std::move(name), number, std::move(unit)};
}
// A limit that depends on another measure, such as 2 * warps(run).
Measure operator*(double factor, const Measure& of);

// A limit, and where it comes from in words: the test's reason, or the name of another measure.
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
    Good(Relation relation, Limit limit, std::string words, std::optional<Number> upper = std::nullopt);
    // Makes a band from a single limit. If the limit comes from the submission and `value` is on its good side, there
    // is no band.
    [[nodiscard]] Good none_at(Number value) const;
    // Also true within a band, which reduces the test's part of the points.
    [[nodiscard]] bool match(const Measure& measured) const;
    [[nodiscard]] std::string toString() const { return "is as expected"; }

  private:
    [[nodiscard]] bool holds(double value) const;
    [[nodiscard]] double part(double value) const;                    // of the points, 0 to 1
    void record(const Measure& measured, const char* outcome) const;  // in the verdict
    [[nodiscard]] std::string explain(const Measure& measured) const;
    [[nodiscard]] std::string explain_part(const Measure& measured) const;
    Relation relation_;
    Number limit_, upper_;
    std::optional<Number> worst_;
    std::string words_;
};

// `words` give the reason for the limit; the message shows them after it.
inline Good is(const Limit& right, std::string words = {}) { return {Good::Relation::equal, right, std::move(words)}; }
inline Good at_most(const Limit& limit, std::string words = {}) {
    return {Good::Relation::at_most, limit, std::move(words)};
}
inline Good at_least(const Limit& limit, std::string words = {}) {
    return {Good::Relation::at_least, limit, std::move(words)};
}
inline Good below(const Limit& limit, std::string words = {}) {
    return {Good::Relation::below, limit, std::move(words)};
}
// Both included.
inline Good between(const Limit& least, const Limit& most, std::string words = {}) {
    return {Good::Relation::between, least, std::move(words), most.number};
}

// Matches a student's prediction that equals the measured value or `described`, the value of a version exactly as the
// contract describes it. The student's own version may need less. A measured 0 means that it is not right yet: then the
// message tells no value, but how far off the prediction is.
class Prediction {
  public:
    Prediction(Measure measured, std::optional<Number> described)
        : measured_(std::move(measured)), described_(described) {}
    // Allows an error of this part of the measured value; for speed-ups.
    [[nodiscard]] Prediction within(double part) const;
    [[nodiscard]] bool match(Number predicted) const;
    [[nodiscard]] std::string toString() const { return "is as measured"; }

  private:
    [[nodiscard]] bool is_near(double value, double right) const;
    [[nodiscard]] bool match_described(double value) const;
    Measure measured_;
    std::optional<Number> described_;
    double within_ = 0;
};
inline Prediction predicts(Measure measured, std::optional<Number> described = {}) {
    return {std::move(measured), described};
}

// The counters of one launch, or the sums over all launches of a call.
struct Counted {
    Counted(const device::Counters& all) : counters(all) {}                     // NOLINT: implicit
    Counted(const device::LaunchRecord& launch) : counters(counted(launch)) {}  // NOLINT: implicit
    Counted(const Profile& run) : counters(run.total()) {}                      // NOLINT: implicit
    device::Counters counters;
};

// The counters in Nsight Compute's words. A request is one instruction of one warp, a sector is 32 bytes.
Measure warp_instructions(const Counted& from);
Measure thread_instructions(const Counted& from);
Measure warps(const Counted& from);
Measure barriers(const Counted& from);
Measure divergent_branches(const Counted& from);
// Loads from global memory include texture fetches, loads from surfaces, and atomics, which read what they change.
// Stores include stores to surfaces. Constant memory does not count: different words in one request cost time instead.
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

// The part of a run's warp instructions that its busiest block executes: 1 if one block does all the work.
Measure part_of_busiest_block(const Profile& run);

Measure blocks(const device::LaunchRecord& launch);
Measure threads_per_block(const device::LaunchRecord& launch);
Measure static_shared_bytes(const device::LaunchRecord& launch);
Measure dynamic_shared_bytes(const device::LaunchRecord& launch);

Measure launches(const Profile& run);  // those that the result depends on
Measure copies(const Profile& run, device::TransferRecord::Kind kind);
Measure bytes_copied(const Profile& run, device::TransferRecord::Kind kind);

namespace detail {
// Sets the verdict's message, which must name the checked value.
void explain_failure(std::string message);
}  // namespace detail

}  // namespace warpgrade::judge

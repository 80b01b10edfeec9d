// A program's time limit. It counts processor time, so that a busy machine does not shorten it. A longer wall-clock
// limit ends a program that only waits.
#pragma once

#include <algorithm>
#include <chrono>

#include "judge/process.hpp"

namespace warpgrade::judge {

class TimeLimit {
  public:
    static constexpr double wall_factor = 3;

    // Begins now; `used` of these seconds are gone.
    explicit TimeLimit(double seconds, double used = 0)
        : processor_seconds_(seconds),
          deadline_(Clock::now() + duration(seconds - used)),
          last_(Clock::now() + duration(wall_factor * seconds - used)) {}

    // When to call is_over().
    [[nodiscard]] Clock::time_point deadline() const { return deadline_; }
    // The wall-clock limit.
    [[nodiscard]] Clock::time_point last() const { return last_; }
    // Takes the program's processor time so far. Moves the deadline if there is time left.
    [[nodiscard]] bool is_over(double processor_seconds) {
        const auto now = Clock::now();
        if (now < deadline_) return false;
        const double left = processor_seconds_ - processor_seconds;
        if (left <= 0 || now >= last_) return true;
        deadline_ = std::min(last_, now + duration(std::max(left, 0.01)));
        return false;
    }
    // Extends both limits by a time in which the program was stopped.
    void add(Clock::duration waited) { deadline_ += waited, last_ += waited; }

  private:
    static Clock::duration duration(double seconds) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::max(0.0, seconds)));
    }

    double processor_seconds_;
    Clock::time_point deadline_, last_;
};

}  // namespace warpgrade::judge

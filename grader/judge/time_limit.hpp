// How long a program may take. Its processor time counts, so that a busy machine takes nothing from anybody; the wall
// clock ends a program that only waits.
#pragma once

#include <algorithm>
#include <chrono>

#include "judge/process.hpp"

namespace warpgrade::judge {

class TimeLimit {
  public:
    static constexpr double wall_factor = 3;

    // Begins now. `used`: of these seconds, before.
    explicit TimeLimit(double seconds, double used = 0)
        : processor_seconds_(seconds),
          deadline_(Clock::now() + of(seconds - used)),
          last_(Clock::now() + of(wall_factor * seconds - used)) {}

    // When to ask whether it is over.
    [[nodiscard]] Clock::time_point deadline() const { return deadline_; }
    // By the wall clock alone.
    [[nodiscard]] Clock::time_point last() const { return last_; }
    // At the deadline, which moves if there is time left: the program has used so much since it began.
    [[nodiscard]] bool is_over(double processor_seconds) {
        const auto now = Clock::now();
        if (now < deadline_) return false;
        const double left = processor_seconds_ - processor_seconds;
        if (left <= 0 || now >= last_) return true;
        deadline_ = std::min(last_, now + of(std::max(left, 0.01)));
        return false;
    }
    // The program stood still meanwhile.
    void add(Clock::duration waited) { deadline_ += waited, last_ += waited; }

  private:
    static Clock::duration of(double seconds) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::max(0.0, seconds)));
    }

    double processor_seconds_;
    Clock::time_point deadline_, last_;
};

}  // namespace warpgrade::judge

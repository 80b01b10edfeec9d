// Reasons why a call has no outputs.
#pragma once

#include <stdexcept>

namespace warpgrade::judge {

// The student's code is to blame (crash, time-out, device fault, early exit): the test fails with this message.
class SubmissionFailure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The call exceeded its time limit; what() is no message for the student yet.
class OutOfTime : public SubmissionFailure {
  public:
    explicit OutOfTime(bool started) : SubmissionFailure("out of time"), started_(started) {}
    // False: the program hung in its global constructors, before the first call.
    [[nodiscard]] bool started() const { return started_; }

  private:
    bool started_;
};

// The machine or the grader is to blame: the test's status is "error", which is never a zero.
class InfrastructureError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The test needs what no device of this grade reports, such as counters: it is pending, neither a pass nor a fail.
class MissingAnalysis : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The device does not support what the program asks for. The grader decides whether the submission is to blame, since
// it can look at the compiled program.
class Unsupported : public InfrastructureError {
  public:
    using InfrastructureError::InfrastructureError;
};

}  // namespace warpgrade::judge

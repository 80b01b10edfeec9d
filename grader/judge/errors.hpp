// Why a call did not come back with outputs.
#pragma once

#include <stdexcept>

namespace warpgrade::judge {

// The student's code is to blame (crash, time-out, device fault, early exit): the test fails with this message.
class SubmissionFailure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The call took longer than it may: what() is no message for the student yet.
class OutOfTime : public SubmissionFailure {
  public:
    explicit OutOfTime(bool started) : SubmissionFailure("out of time"), started_(started) {}
    // False: the program did not come to its first call, so that its global constructors hang.
    [[nodiscard]] bool started() const { return started_; }

  private:
    bool started_;
};

// The machine or the grader is to blame: the test's status is "error", which is never a zero.
class InfrastructureError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// What no device of this grade can tell, such as counters on a device that has none: the test is pending, neither a
// pass nor a fail, until a device tells.
class NotKnown : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The device lacks what the program's kernels need. The grader, which can look at what the compiler made, says whether
// that is the machine's lack or the submission's doing.
class Unsupported : public InfrastructureError {
  public:
    using InfrastructureError::InfrastructureError;
};

}  // namespace warpgrade::judge

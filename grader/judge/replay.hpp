// A call of the submission once more, in another process and with other inputs of the same shape. What host code asks
// of the device must be the same then: sizes, shapes, places, arguments, and every byte that is not input. Results that
// the host computes need a way to the device, and all ways are such a decision. The device server compares.
//
// The call is first repeated without running its kernels, which is cheap: whoever makes decisions without looking at
// the inputs makes the same ones. If they differ, kernels run as well (a program may read what they wrote), and the
// call is repeated with equal inputs too: what differs then (host threads, clocks) proves nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "judge/arena.hpp"
#include "judge/device_server.hpp"
#include "judge/random.hpp"
#include "judge/submission.hpp"
#include "judge/time_limit.hpp"
#include "judge/worker_process.hpp"

namespace warpgrade::judge {

// Its process and the program's never run at the same time: one could tell the other what it knows, be it by the time
// that it leaves it.
class Replay {
  public:
    enum class Inputs { other, same };
    // `device` has one for a replay, and stays.
    Replay(const Options& options, const std::string& executable, DeviceServer& device, Inputs inputs);

    // False if the call did not come back. `compare`: with the call that its program has just made. Throws
    // InfrastructureError.
    bool call(const CallSpec& spec, bool compare, TimeLimit limit);
    // What all calls have taken.
    [[nodiscard]] Clock::duration used() const { return used_; }

    [[nodiscard]] std::size_t calls() const { return calls_; }
    // What a buffer held before the last call.
    [[nodiscard]] std::span<const std::byte> before(std::size_t argument) const;

  private:
    void vary(const CallSpec& spec);
    bool make_call(bool compare, TimeLimit& limit);

    Inputs inputs_;
    DeviceServer& device_;
    WorkerProcess worker_;
    bool ready_ = false;
    RandomStream random_;
    std::size_t calls_ = 0;
    Clock::duration used_{};
    CallSpec spec_;
    std::vector<std::vector<std::byte>> data_;  // of the arguments
    std::unique_ptr<Arena> arena_;
};

// A call of this test, with inputs of its own.
struct StoredCall {
    explicit StoredCall(const CallSpec& call);
    StoredCall(StoredCall&&) = default;
    CallSpec spec;
    std::vector<std::vector<std::byte>> data;
};

// Only an analysed device tells what went up and down.
bool can_replay(const Options& options);
// For calls of the submission, and their replays if there can be any.
std::unique_ptr<DeviceServer> device_of_submission(const Options& options);
// Not where the host rightly does the work, or decides, nor without inputs that could be others.
bool is_compared(const CallSpec& call);

// Throws SubmissionFailure if the last call's host code is to blame. Makes all calls again for that, with their
// kernels, unless its function has been to blame before.
void settle_suspicion(const std::string& executable, std::span<const StoredCall> calls, const Suspicion& suspicion);

}  // namespace warpgrade::judge

// A call of the submission once more, in another process and with other inputs of the same shape. What host code asks
// of the device must be the same then: sizes, shapes, places, arguments, and every byte that is not input. Results that
// the host computes need a way to the device, and all ways are such a decision.
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
#include "judge/session.hpp"

namespace warpgrade::judge {

class Replay {
  public:
    enum class Inputs { other, same };
    Replay(const Options& options, const std::string& executable, Inputs inputs, DeviceServer::Kernels kernels);

    // False if the call did not come back. Throws InfrastructureError.
    bool call(const CallSpec& spec, Clock::time_point deadline);
    // What all calls have taken.
    [[nodiscard]] Clock::duration used() const { return used_; }

    [[nodiscard]] std::size_t calls() const { return calls_; }
    // Of the last call that came back: the file that its device has written, and what a buffer held before.
    [[nodiscard]] int trace() const { return trace_.get(); }
    [[nodiscard]] std::span<const std::byte> before(std::size_t argument) const;

  private:
    Inputs inputs_;
    Session session_;
    RandomStream random_;
    device::Descriptor trace_;
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

// Only the virtual GPU tells what went up and down.
bool can_replay(const Options& options);
// Not where the host rightly does the work, or decides.
bool is_compared(const CallSpec& call);

// Makes all calls again, with their kernels: throws SubmissionFailure if the last one's host code is to blame.
void settle_suspicion(const std::string& executable, std::span<const StoredCall> calls);

}  // namespace warpgrade::judge

// A replay repeats a call of the submission in another process with other inputs of the same shape. Host code must make
// the same requests to the device: sizes, shapes, places, arguments, and every byte that is not input. A result that
// the host computes can reach the device only through such a request, so that it shows as a difference. The device
// server compares.
//
// First the call is repeated without running its kernels, which is cheap and enough for host code that does not look at
// data. If the requests differ, or it does not end soon, the call is repeated with kernels, since a program may read
// their results or wait for them, and also
// with equal inputs: differences that remain then come from host threads or clocks and prove nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "judge/arena.hpp"
#include "judge/device_server.hpp"
#include "judge/origin.hpp"
#include "judge/random.hpp"
#include "judge/submission.hpp"
#include "judge/time_limit.hpp"
#include "judge/worker_process.hpp"

namespace warpgrade::judge {

// The processes of the replay and the program never run at the same time, since they could communicate, if only by the
// processor time that they use.
class Replay {
  public:
    enum class Inputs { other, same };
    // `device` must have a replay device and outlive this object.
    Replay(const Options& options, const std::string& executable, DeviceServer& device, Inputs inputs);

    // Returns false if the call did not return. `compare`: keep its requests for comparison with the program's last
    // call. Throws InfrastructureError.
    bool call(const CallSpec& spec, bool compare, TimeLimit limit);
    // The wall-clock time of all calls.
    [[nodiscard]] Clock::duration used() const { return used_; }

    [[nodiscard]] std::size_t calls() const { return calls_; }
    // The contents of a buffer before the last call.
    [[nodiscard]] std::span<const std::byte> before(std::size_t argument) const;
    // What the last call gave.
    [[nodiscard]] const Arena::Snapshot& snapshot() const { return snapshot_; }
    [[nodiscard]] std::uint64_t result() const { return result_; }

  private:
    void vary(const CallSpec& spec);
    bool make_call(bool compare, TimeLimit& limit);

    Inputs inputs_;
    DeviceServer& device_;
    WorkerProcess worker_;
    bool ready_ = false, ended_ = false;
    RandomStream random_;
    std::size_t calls_ = 0;
    Clock::duration used_{};
    CallSpec spec_;
    std::vector<std::vector<std::byte>> data_;  // of the arguments
    SharedArenaFile arena_file_;
    std::unique_ptr<Arena> arena_;
    Arena::Snapshot snapshot_;
    std::uint64_t result_ = 0;
};

// A call of this test with a copy of its inputs, and with what host code might do in it.
struct StoredCall {
    explicit StoredCall(const CallSpec& call);
    StoredCall(StoredCall&&) = default;
    CallSpec spec;
    HostWork host_work;
    std::vector<std::vector<std::byte>> data;
};

// The call with other values of the same kind, others for each number. Whole numbers change only if they are the only
// array: of several, one may say where others begin.
StoredCall with_other_inputs(const CallSpec& call, unsigned number);

// Only an analysed device reports uploads and downloads.
bool can_replay(const Options& options);
// A device server for the submission's calls, and for replays if there can be any.
std::unique_ptr<DeviceServer> start_submission_device(const Options& options);
// False if the host may do the work or decide by data, and for calls without inputs to vary.
bool is_compared(const CallSpec& call);

// Throws SubmissionFailure if the last call's host code depends on the inputs' values. To find out, it repeats all
// calls with their kernels, unless the function is known to do so.
void check_suspicion(const std::string& executable, std::span<const StoredCall> calls, const Suspicion& suspicion);

}  // namespace warpgrade::judge

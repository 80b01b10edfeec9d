// One session: a device server and a worker that is connected to it. It serves the calls of one test case, and ends
// with the first call that does not come back.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "judge/arena.hpp"
#include "judge/baseline_cache.hpp"
#include "judge/device_server.hpp"
#include "judge/submission.hpp"
#include "judge/time_limit.hpp"
#include "judge/worker_process.hpp"

namespace warpgrade::judge {

class Replay;

class Session {
  public:
    // Whose calls it serves, in a sandbox of its own. The outputs of the submission's must come from the device; the
    // timed ones are the same programs on the device that times.
    enum class Role : std::uint8_t { submission, baseline, timed_submission, timed_baseline };
    // `device` may be null for labs that use none.
    Session(const Options& options, const std::string& executable, std::unique_ptr<DeviceServer> device, Role role);

    // Both throw SubmissionFailure or InfrastructureError, after which the session is of no use.
    // Waits for the program, before its first call.
    void wait_until_ready(const CallSpec& spec, TimeLimit limit);
    // `arena` is made of `spec`, for this call alone. `notes` receives what may explain a wrong result. With `replay`,
    // the call is made there as well, and compared.
    CallResult call(const CallSpec& spec, const Arena& arena, TimeLimit limit, std::vector<std::string>& notes,
                    Replay* replay = nullptr);
    [[nodiscard]] DeviceServer* device() const { return device_.get(); }
    // The device's report on the last call, as it came.
    [[nodiscard]] std::string last_report() const { return device_ ? device_->last_report() : ""; }
    // Ends the program between two calls and takes what the device says of its end. Never throws: the verdict stands.
    void finish() noexcept;
    // What the checks found since the last call of this function, also in a call that did not come back.
    std::vector<device::Diagnostic> take_diagnostics() { return std::exchange(diagnostics_, {}); }
    [[nodiscard]] std::string output() const { return worker_.output(); }

  private:
    void wait_for_reply(const CallSpec& spec, TimeLimit& limit, wire::Reply& reply);
    [[noreturn]] void worker_is_gone(const CallSpec& spec);
    [[noreturn]] void fail(std::string message, bool ask_device);
    bool make_replay(Replay& replay, const CallSpec& spec);
    DeviceReport take(Clock::time_point deadline, const device::OriginMessage* origin, bool compare);
    DeviceReport hear_device(Clock::time_point deadline, const device::OriginMessage* origin = nullptr,
                             bool compare = false);

    const Options& options_;
    std::unique_ptr<DeviceServer> device_;
    WorkerProcess worker_;
    std::vector<device::Diagnostic> diagnostics_;
    const std::string executable_;
    bool is_submission_, ready_ = false;
    std::uint32_t sequence_ = 0;
};

// What a call of the starter gave when it was made; `notes` as of Session::call.
CallResult result_of(const BaselineCache::Entry& entry, std::vector<std::string>& notes);

}  // namespace warpgrade::judge

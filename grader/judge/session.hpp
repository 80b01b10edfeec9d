// One session: a device server and a worker that is connected to it. It serves the calls of one test, and ends with the
// first call that does not return.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "judge/arena.hpp"
#include "judge/baseline_cache.hpp"
#include "judge/call_file.hpp"
#include "judge/device_server.hpp"
#include "judge/submission.hpp"
#include "judge/time_limit.hpp"
#include "judge/worker_process.hpp"

namespace warpgrade::judge {

class Replay;

class Session {
  public:
    // The outputs of the submission must come from the device. The timed roles are the same programs on the timing
    // device; the last one is the submission once more (judge/orders.hpp).
    enum class Role : std::uint8_t { submission, baseline, timed_submission, timed_baseline, other_order };
    // Each role has its own prepared sandboxes.
    static const char* sandbox_name(Role role);
    // `device` may be null for labs that use none.
    Session(const Options& options, const std::string& executable, std::unique_ptr<DeviceServer> device, Role role);

    // Both throw SubmissionFailure or InfrastructureError, which makes the session unusable.
    // Waits for the program to be ready for its first call.
    void wait_until_ready(const CallSpec& spec, TimeLimit limit);
    // `arena` is made from `spec`, for this call alone. `notes` receives possible causes of a wrong result. If `replay`
    // is not null, it repeats the call for comparison.
    CallResult call(const CallSpec& spec, const Arena& arena, TimeLimit limit, std::vector<std::string>& notes,
                    Replay* replay = nullptr);
    [[nodiscard]] DeviceServer* device() const { return device_.get(); }
    // The device's report on the last call, still packed.
    [[nodiscard]] std::string last_report() const { return device_ ? device_->last_report() : ""; }
    // Between two calls, lets another process run that the program must not talk to.
    void pause() { worker_.pause(); }
    void resume() { worker_.resume(); }
    // Ends the program between two calls, and collects findings about its end, such as leaks.
    // Returns false if the program or the device does not come to an end.
    bool finish() noexcept;
    // Ends the session. Returns its device server, which waits for requests, if it may serve another one.
    std::unique_ptr<DeviceServer> release_device() {
        return device_ && device_->is_renewable() ? std::move(device_) : nullptr;
    }
    // The checks' findings since the last call of this function, also of a call that did not return.
    std::vector<device::Diagnostic> take_diagnostics() { return std::exchange(diagnostics_, {}); }
    [[nodiscard]] std::string output() const { return worker_.output(); }

  private:
    void wait_for_reply(const CallSpec& spec, TimeLimit& limit, wire::Reply& reply);
    [[noreturn]] void fail_worker_ended(const CallSpec& spec);
    [[noreturn]] void fail(std::string message, bool ask_device);
    bool make_replay(Replay& replay, const CallSpec& spec);
    DeviceReport take(Clock::time_point deadline, const device::OriginMessage* origin, bool compare);
    DeviceReport take_report(Clock::time_point deadline, const device::OriginMessage* origin = nullptr,
                             bool compare = false);

    const Options& options_;
    std::unique_ptr<DeviceServer> device_;
    WorkerProcess worker_;
    std::vector<device::Diagnostic> diagnostics_;
    CallFile calls_;
    const std::string executable_;
    bool is_submission_, ready_ = false;
    std::uint32_t sequence_ = 0;
};

// The result of a cached call of the starter; `notes` as in Session::call.
CallResult make_result(const BaselineCache::Entry& entry, std::vector<std::string>& notes);

}  // namespace warpgrade::judge

// One session: a device server and a worker that is connected to it. It serves the calls of one test case, and ends
// with the first call that does not come back.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "judge/device_server.hpp"
#include "judge/submission.hpp"
#include "judge/worker_process.hpp"

namespace warpgrade::judge {

class Arena;

class Session {
  public:
    // `device` may be null for labs that use none.
    // `asks_origin`: the outputs of each call must come from the device.
    Session(const Options& options, const std::string& executable, std::unique_ptr<DeviceServer> device,
            bool asks_origin);

    // Throws SubmissionFailure or InfrastructureError, after which the session is of no use. `notes` receives what may
    // explain a wrong result.
    CallResult call(const CallSpec& spec, Clock::time_point deadline, std::vector<std::string>& notes);
    // Ends the program between two calls and takes what the device says of its end. Never throws: the verdict stands.
    void finish() noexcept;
    // What the checks found since the last call of this function, also in a call that did not come back.
    std::vector<device::Diagnostic> take_diagnostics() { return std::exchange(diagnostics_, {}); }
    [[nodiscard]] std::string output() const { return worker_.output(); }

  private:
    void wait_until_ready(const CallSpec& spec, Clock::time_point deadline);
    void wait_for_reply(const CallSpec& spec, Clock::time_point deadline, wire::Reply& reply);
    double processor_time_ns(const CallSpec& spec);
    [[noreturn]] void worker_is_gone(const CallSpec& spec);
    [[noreturn]] void fail(std::string message, bool ask_device);
    DeviceReport take(Clock::time_point deadline, const device::OriginMessage* origin);
    DeviceReport hear_device(Clock::time_point deadline, const device::OriginMessage* origin = nullptr);

    const Options& options_;
    std::unique_ptr<DeviceServer> device_;
    WorkerProcess worker_;
    std::vector<device::Diagnostic> diagnostics_;
    const std::string executable_;
    bool asks_origin_, ready_ = false;
    std::uint32_t sequence_ = 0;
};

}  // namespace warpgrade::judge

// The judge's side of a device server: its process and control socket.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/order.hpp"
#include "device/report.hpp"
#include "judge/errors.hpp"
#include "judge/options.hpp"
#include "judge/prepared.hpp"
#include "judge/process.hpp"

namespace warpgrade::device {
struct OriginMessage;
}

namespace warpgrade::judge {

struct DeviceReport : device::Report {
    std::vector<std::string> errors;  // messages of failed calls
    std::string fault;                // the error that ended the context (a kernel's illegal access, …), if any
    std::string unsupported;          // a request of the program that the device does not support, if any
};

// The server is alive but has not answered in time, for example because a kernel runs.
class DeviceSilent : public InfrastructureError {
  public:
    using InfrastructureError::InfrastructureError;
};

// A signal ended the server, for example because memory ran out. The machine may be the cause if it happens once.
class DeviceKilled : public InfrastructureError {
  public:
    using InfrastructureError::InfrastructureError;
};
// The device server may be captured by the program: throws std::exception if the bytes are no report.
DeviceReport read_report(std::string_view packed);

// Every member function throws InfrastructureError if the server has ended, does not answer or sends invalid messages.
class DeviceServer {
  public:
    // How long an idle server may take for an answer.
    static constexpr auto grace = std::chrono::seconds(5);
    // The server may have a second device for the program's replay.
    enum class ReplayDevice { none, skips_kernels, runs_kernels };
    // `sandbox` names the prepared sandbox to run in.
    DeviceServer(const Options& options, const std::string& sandbox, ReplayDevice replay);
    ~DeviceServer();

    // For another session, which gets new devices and sockets; nothing of the last session is left in the server. To
    // start a new server takes longer.
    void renew();
    // Whether the server may serve another session: not if its process has used much of its own limits.
    [[nodiscard]] bool is_renewable() const;

    [[nodiscard]] const std::string& properties_json() const { return properties_; }
    // Of this session; 0 for the server of a real GPU.
    [[nodiscard]] double processor_seconds() const { return total_processor_seconds() - used_before_; }
    // Of all sessions.
    [[nodiscard]] double total_processor_seconds() const { return in_sandbox_ ? sandboxed_.processor_seconds() : 0; }
    [[nodiscard]] int client_socket() const { return client_.get(); }
    void close_client_socket() { client_.reset(); }  // after the worker got it
    [[nodiscard]] int replay_socket() const { return replay_.get(); }
    [[nodiscard]] bool replay_runs_kernels() const { return replay_device_ == ReplayDevice::runs_kernels; }
    void close_replay_socket() { replay_.reset(); }
    // With `origin`, the report has a verdict on the call's outputs; `compare` also compares the call with its replay.
    DeviceReport take(Clock::time_point deadline, const device::OriginMessage* origin = nullptr, bool compare = false);
    // For the next calls, of a server that was started with Options::order.
    void set_order(device::Order order, Clock::time_point deadline);
    // The replay's call has returned. `forget`: it will not be compared.
    void end_replay(Clock::time_point deadline, bool forget);

    // The last report, still packed.
    [[nodiscard]] const std::string& last_report() const { return last_report_; }

  private:
    // `more`: the request's other fields as JSON.
    nlohmann::json request(std::string_view operation, std::string_view more, Clock::time_point deadline,
                           std::span<const int> files = {});
    [[noreturn]] void fail_ended();
    DeviceReport read_packed(const nlohmann::json& reply, Clock::time_point deadline);
    std::string read_line(Clock::time_point deadline);
    std::string read_bytes(std::size_t count, Clock::time_point deadline);
    void receive(Clock::time_point deadline);
    // Returns the server's ends of new sockets for the worker and its replay.
    std::pair<Descriptor, Descriptor> connect();

    Descriptor control_, client_, replay_;
    std::optional<int> wait(Clock::time_point deadline);

    Process process_;  // for the server of a real GPU, which has no sandbox
    SandboxedProcess sandboxed_;
    const ReplayDevice replay_device_;
    const double test_seconds_;
    const bool in_sandbox_, analysed_;
    double used_before_ = 0;  // processor seconds of earlier sessions
    std::string received_, properties_, last_report_;
};

}  // namespace warpgrade::judge

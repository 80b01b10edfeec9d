// The device server of one session, seen from the judge: a process and its control socket.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/report.hpp"
#include "judge/errors.hpp"
#include "judge/options.hpp"
#include "judge/prepared.hpp"
#include "judge/process.hpp"

namespace warpgrade::device {
struct OriginMessage;
}

namespace warpgrade::judge {

// What the device did since it was last asked.
struct DeviceReport : device::Report {
    std::vector<std::string> errors;  // calls that failed, in the words of the device
    std::string fault;                // what ended the context (a kernel's illegal access, …); empty: nothing
    std::string unsupported;          // what the program asked for and the device cannot do; empty: nothing
};

// The server still lives but has not answered in time, as while a kernel runs.
class DeviceSilent : public InfrastructureError {
  public:
    using InfrastructureError::InfrastructureError;
};

// The server is gone by a signal, as for want of memory or time. Once may be the machine's doing.
class DeviceKilled : public InfrastructureError {
  public:
    using InfrastructureError::InfrastructureError;
};
// Reads the report of a device server, which may be captured: throws std::exception for what is none.
DeviceReport read_report(std::string_view packed);

// Every member function throws InfrastructureError when the server is gone, silent or talks nonsense.
class DeviceServer {
  public:
    // How long a server that has nothing else to do may take for an answer.
    static constexpr auto grace = std::chrono::seconds(5);
    // Beside the program's own device there may be another one for its replay.
    enum class ReplayDevice { none, skips_kernels, runs_kernels };
    // Servers with another name of the sandbox run in another one.
    DeviceServer(const Options& options, const std::string& sandbox, ReplayDevice replay);
    ~DeviceServer();

    [[nodiscard]] const std::string& properties_json() const { return properties_; }
    // That it has used so far; not known of a real GPU's.
    [[nodiscard]] double processor_seconds() const { return in_sandbox_ ? sandboxed_.processor_seconds() : 0; }
    [[nodiscard]] int client_socket() const { return client_.get(); }
    void client_was_passed_on() { client_.close(); }
    [[nodiscard]] int replay_socket() const { return replay_.get(); }
    void replay_was_passed_on() { replay_.close(); }
    // With `origin`, the report says where the outputs of the call come from; `compare`: and whether its host code did
    // the same as that of the replay.
    DeviceReport take(Clock::time_point deadline, const device::OriginMessage* origin = nullptr, bool compare = false);
    // The replay's call has returned. `forget`: it will not be compared.
    void end_replay(Clock::time_point deadline, bool forget);

    // The last report, as it came.
    [[nodiscard]] const std::string& last_report() const { return last_report_; }

  private:
    // `more`: the request's other fields, as JSON.
    nlohmann::json request(std::string_view operation, std::string_view more, Clock::time_point deadline,
                           std::span<const int> files = {});
    [[noreturn]] void is_gone();
    DeviceReport read_packed(const nlohmann::json& reply, Clock::time_point deadline);
    // The server's words up to the end of the line, and so many bytes.
    std::string read_line(Clock::time_point deadline);
    std::string read_bytes(std::size_t count, Clock::time_point deadline);
    void receive(Clock::time_point deadline);

    Descriptor control_, client_, replay_;
    std::optional<int> wait(Clock::time_point deadline);

    Process process_;  // that of a real GPU: it is in no sandbox
    SandboxedProcess sandboxed_;
    bool in_sandbox_, analysed_;
    std::string received_, properties_, last_report_;
};

}  // namespace warpgrade::judge

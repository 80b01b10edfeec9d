#include "judge/device_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "device/descriptor_passing.hpp"
#include "device/kinds.hpp"
#include "device/origin_request.hpp"
#include "device/records.hpp"
#include "judge/errors.hpp"

namespace warpgrade::judge {
namespace {

using nlohmann::json;

constexpr const char* server_in_sandbox = "/warpgrade-device";
constexpr std::size_t max_reply_bytes = std::size_t{256} << 20;

[[noreturn]] void fail_too_long() {
    throw SubmissionFailure("your program made the device do more than can be recorded");
}

// The device server's limit of mapped memory: for its records and tables, its threads, and for each byte of device
// memory the undo copy, bits and marks that a launch may need. Beyond it a call gets "no memory left".
std::uint64_t address_space_mib(const Options& options) {
    return 4096 + 5 * options.memory_mib + std::uint64_t{options.threads} * (256 + options.memory_mib / 2);
}

// Errors that end the context, as on a real GPU: calls after one of them have no effect.
bool is_sticky(int code) {
    namespace error = device::error;
    for (const int sticky : {error::illegal_address, error::launch_timeout, error::assert_failed,
                             error::hardware_stack_error, error::illegal_instruction, error::misaligned_address,
                             error::invalid_address_space, error::invalid_pc, error::launch_failure})
        if (code == sticky) return true;
    return false;
}

std::vector<std::string> sandbox_line(const Options& options) {
    std::vector<std::string> line{options.sandbox, "--profile", "device"};
    if (options.no_sandbox) line.emplace_back("--unconfined");
    if (options.plain_sandbox) line.insert(line.end(), {"--sandbox", "plain"});
    // The judge has its own, lower limit; this one is for the case that the judge has ended.
    const double cpu_seconds = (4 * options.seconds + 60) * std::max(options.threads, 1u);
    line.insert(line.end(), {"--memory-mib", std::to_string(address_space_mib(options)), "--cpu-seconds",
                             std::to_string(static_cast<std::uint64_t>(cpu_seconds)), "--file", options.device_server,
                             server_in_sandbox});
    return line;
}

std::vector<std::string> command_line(const Options& options, DeviceServer::ReplayDevice replay) {
    std::vector<std::string> line{
        device::find_kind(options.device).sandboxed ? server_in_sandbox : options.device_server,
        "--device",
        options.device,
        "--threads",
        std::to_string(options.threads),
        "--instructions",
        std::to_string(options.instructions),
        "--memory-mib",
        std::to_string(options.memory_mib),
        "--checks",
        options.checks,
        "--client-fd",
        "4",
        "--control-fd",
        "3",
        "--origin"};
    if (options.order != "forward") line.insert(line.end(), {"--order", options.order});
    if (!options.trace_accesses.empty()) line.emplace_back("--trace-accesses");
    if (replay != DeviceServer::ReplayDevice::none) line.insert(line.end(), {"--replay-fd", "5"});
    if (replay == DeviceServer::ReplayDevice::runs_kernels) line.emplace_back("--replay-runs-kernels");
    return line;
}

bool has_all_analysis(const DeviceReport& report) {
    return report.analysed && std::ranges::all_of(report.launches, [](const device::LaunchRecord& launch) {
               return launch.error_code != 0 || (launch.counters && launch.start_ns && launch.duration_ns);
           });
}

}  // namespace

DeviceReport read_report(std::string_view packed) {
    DeviceReport report{device::unpack_report(packed), {}, {}, {}};
    for (const auto& launch : report.launches)
        if (launch.error_code != 0 && report.fault.empty()) report.fault = launch.error;
    for (const auto& [operation, code, message] : report.call_errors) {
        if (report.fault.empty() && is_sticky(code)) report.fault = message;
        if (report.unsupported.empty() && code == device::error::not_supported) report.unsupported = message;
        report.errors.push_back(operation + ": " + message);
    }
    return report;
}

DeviceServer::DeviceServer(const Options& options, const std::string& sandbox, ReplayDevice replay)
    : replay_device_(replay),
      test_seconds_(options.seconds),
      in_sandbox_(device::find_kind(options.device).sandboxed),
      analysed_(device::find_kind(options.device).analysed) {
    auto [control, control_theirs] = socket_pair(SOCK_STREAM);
    const auto [client_theirs, replay_theirs] = connect();
    std::vector<std::pair<int, int>> files{{3, control_theirs.get()}, {4, client_theirs.get()}};
    if (replay_theirs) files.emplace_back(5, replay_theirs.get());
    const auto command = command_line(options, replay);
    if (in_sandbox_) {
        files.insert(files.begin(), {{1, 1}, {2, 2}});
        sandboxed_ = SandboxedProcess(sandbox, sandbox_line(options), command, files);
    } else {
        process_ = Process(command, files);
    }
    control_ = std::move(control);
    control_theirs.reset();  // so that the end of the server is noticed
    const auto hello = request("hello", "", Clock::now() + std::chrono::seconds(30));
    if (!hello.contains("properties")) throw InfrastructureError("the device server does not describe its device");
    properties_ = hello["properties"].dump();
}

DeviceServer::~DeviceServer() = default;

std::pair<Descriptor, Descriptor> DeviceServer::connect() {
    std::pair<Descriptor, Descriptor> theirs;
    std::tie(client_, theirs.first) = socket_pair(SOCK_STREAM);
    if (replay_device_ != ReplayDevice::none) std::tie(replay_, theirs.second) = socket_pair(SOCK_STREAM);
    return theirs;
}

void DeviceServer::renew() {
    const auto [client_theirs, replay_theirs] = connect();
    const int files[] = {client_theirs.get(), replay_theirs.get()};
    received_.clear();
    last_report_.clear();
    request("renew", "", Clock::now() + grace, std::span(files).first(replay_theirs ? 2 : 1));
    used_before_ = total_processor_seconds();
}

bool DeviceServer::is_renewable() const { return in_sandbox_ && total_processor_seconds() < test_seconds_; }

std::optional<int> DeviceServer::wait(Clock::time_point deadline) {
    return in_sandbox_ ? sandboxed_.wait(deadline) : process_.wait(deadline);
}

void DeviceServer::fail_ended() {
    const auto status = wait(Clock::now() + std::chrono::seconds(1));
    if (status && WIFSIGNALED(*status))
        throw DeviceKilled(fmt::format("the device server ended unexpectedly (signal {})", WTERMSIG(*status)));
    throw InfrastructureError("the device server ended unexpectedly" +
                              (status ? fmt::format(" (status {})", WEXITSTATUS(*status)) : ""));
}

std::string DeviceServer::read_line(Clock::time_point deadline) {
    std::size_t searched = 0;
    for (;;) {
        if (const auto end = received_.find('\n', searched); end != std::string::npos) {
            auto line = received_.substr(0, end);
            received_.erase(0, end + 1);
            return line;
        }
        searched = received_.size();
        if (searched > max_reply_bytes) fail_too_long();
        receive(deadline);
    }
}

std::string DeviceServer::read_bytes(std::size_t count, Clock::time_point deadline) {
    if (count > max_reply_bytes) fail_too_long();
    while (received_.size() < count) receive(deadline);
    auto bytes = received_.substr(0, count);
    received_.erase(0, count);
    return bytes;
}

void DeviceServer::receive(Clock::time_point deadline) {
    pollfd entry{control_.get(), POLLIN, 0};
    if (poll(&entry, 1, milliseconds_until(deadline)) <= 0) throw DeviceSilent("the device server does not answer");
    char buffer[1 << 16];
    const ssize_t got = recv(control_.get(), buffer, sizeof buffer, 0);
    if (got <= 0) fail_ended();
    received_.append(buffer, static_cast<std::size_t>(got));
}

json DeviceServer::request(std::string_view operation, std::string_view more, Clock::time_point deadline,
                           std::span<const int> files) {
    const std::string line = fmt::format(R"({{"op":"{}"{}}})"
                                         "\n",
                                         operation, more);
    const auto bytes = std::as_bytes(std::span(line));
    if (device::send_message(control_.get(), bytes, files) != static_cast<ssize_t>(bytes.size())) fail_ended();
    auto reply = json::parse(read_line(deadline), nullptr, false);
    if (!reply.is_object() || !reply.value("ok", false))
        throw InfrastructureError(fmt::format("the device server refuses \"{}\": {}", operation, reply.dump()));
    return reply;
}

DeviceReport DeviceServer::take(Clock::time_point deadline, const device::OriginMessage* origin, bool compare) {
    std::string more = R"(,"packed":true)";
    if (origin) more += fmt::format(R"(,"compare":{},"origin":{})", compare, origin->question);
    const int files[] = {origin ? origin->file : -1, origin ? origin->program : -1};
    return read_packed(request("take", more, deadline, std::span(files).first(origin ? 2 : 0)), deadline);
}

void DeviceServer::set_order(device::Order order, Clock::time_point deadline) {
    request("order", fmt::format(R"(,"order":"{}")", device::order_names[static_cast<std::size_t>(order)]), deadline);
}

void DeviceServer::end_replay(Clock::time_point deadline, bool forget) {
    request("end_replay", fmt::format(R"(,"forget":{})", forget), deadline);
}

DeviceReport DeviceServer::read_packed(const json& reply, Clock::time_point deadline) {
    const auto size = reply.find("packed");
    if (size == reply.end() || !size->is_number_unsigned())
        throw InfrastructureError("the device server's report cannot be read: it is missing");
    last_report_ = read_bytes(size->get<std::size_t>(), deadline);
    DeviceReport report;
    try {
        report = read_report(last_report_);
    } catch (const std::exception& error) {
        throw InfrastructureError(std::string("the device server's report cannot be read: ") + error.what());
    }
    if (!report.internal_error.empty()) throw InfrastructureError(report.internal_error);
    // A captured server must not pretend that its device has no analysis.
    if (analysed_ && !has_all_analysis(report))
        throw InfrastructureError("the device server's report cannot be read: it does not tell what its device knows");
    return report;
}

}  // namespace warpgrade::judge

#include "judge/verdict.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "device/records.hpp"
#include "judge/context.hpp"

namespace warpgrade::judge {
constexpr std::size_t max_messages = 3, max_message_bytes = 4000;
constexpr std::size_t max_launches = 256;  // in a verdict; the test sees all

VerdictFile::VerdictFile(const std::string& path)
    : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (!file_) throw std::system_error(errno, std::generic_category(), "cannot write " + path);
}

void VerdictFile::write(const nlohmann::json& value) {
    const auto line = device::dump_line(value) + '\n';
    for (std::size_t done = 0; done < line.size();) {
        const ssize_t put = ::write(file_.get(), line.data() + done, line.size() - done);
        if (put < 0) throw std::system_error(errno, std::generic_category(), "writing the verdict");
        done += static_cast<std::size_t>(put);
    }
}

void VerdictFile::begin(std::uint64_t seed, const std::string& device) {
    write({{"type", "start"},
           {"seed", seed},
           {"device", device.empty() ? nlohmann::json::object() : nlohmann::json::parse(device)}});
}

void VerdictFile::begin_case(const std::string& name) { write({{"type", "case_start"}, {"name", name}}); }

void VerdictFile::end_case(CaseVerdict& verdict) { write(verdict.end()); }

void VerdictFile::write_used_time(double processor_seconds) {
    write({{"type", "used"}, {"processor_seconds", processor_seconds}});
}

void VerdictFile::end(std::size_t cases) { write({{"type", "end"}, {"cases", cases}}); }

void CaseVerdict::begin(std::string name, std::vector<std::string> tags) {
    name_ = std::move(name);
    tags_ = std::move(tags);
    failures_.clear();
    errors_.clear();
    checks_ = 0;
    unsupported_ = false;
    begin_ = Clock::now();
}

void CaseVerdict::add(std::vector<Message>& messages, Message message) {
    if (std::ranges::find(messages, message) == messages.end()) messages.push_back(std::move(message));
}

void CaseVerdict::add_failure(std::string message, std::string details) {
    const auto& current = context();
    if (!current.last_call.empty()) details += "\n  in " + current.last_call;
    for (const auto& output : current.outputs)
        if (output.unchanged && output.kind == wire::Kind::out && message.find("never written") == std::string::npos)
            details += fmt::format("\n  note: {} was never written", output.name);
    for (std::size_t i = 1; i < current.notes.size(); ++i) details += "\n  note: " + current.notes[i];
    // A failed copy or launch is the likely cause of a wrong result, so it comes first, once for each call.
    if (!current.notes.empty()) {
        auto cause = "a CUDA call failed: " + current.notes[0] + "\nProbably as a result: ";
        for (const Message& earlier : failures_) {
            if (earlier.details != details || !earlier.text.starts_with(cause)) continue;
            if (earlier.text.substr(cause.size()) == message) return;
            cause.clear();
        }
        message = cause + message;
    }
    add(failures_, {std::move(message), std::move(details)});
}

void CaseVerdict::add_error(std::string message) {
    unsupported_ = false;
    add(errors_, {std::move(message), {}});
}

void CaseVerdict::add_unsupported(std::string message) {
    unsupported_ = errors_.empty() || unsupported_;
    add(errors_, {std::move(message), {}});
}

const char* CaseVerdict::status() const {
    if (!errors_.empty()) return "error";
    if (!failures_.empty()) return "fail";
    if (!context().pending.empty()) return "pending";
    return checks_ == 0 ? "error" : "pass";
}

std::string CaseVerdict::join(const std::vector<Message>& messages) {
    // A blank line separates messages with different details.
    std::string text;
    const auto shown = std::min(messages.size(), max_messages);
    for (std::size_t i = 0; i < shown; ++i) {
        const bool same_details = i > 0 && messages[i - 1].details == messages[i].details;
        text += (i == 0 ? "" : same_details ? "\n" : "\n\n") + messages[i].text;
        if (i + 1 == shown || messages[i + 1].details != messages[i].details) text += messages[i].details;
    }
    if (const auto more = messages.size() - shown; more != 0)
        text += "\n\nand " + std::to_string(more) + (more == 1 ? " more failed check" : " more failed checks");
    if (text.size() > max_message_bytes) {
        text.resize(max_message_bytes);
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
        if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0) text.pop_back();
        text += "…";
    }
    return text;
}

std::string CaseVerdict::message() const {
    if (!errors_.empty()) return join(errors_);
    if (!failures_.empty()) return join(failures_);
    if (!context().pending.empty()) return context().pending;
    return checks_ == 0 ? "the test checked nothing" : context().part_reason;
}

nlohmann::json CaseVerdict::end() {
    auto& current = context();
    auto measurements = nlohmann::json::array();
    for (const auto& [name, value, unit] : current.measurements)
        measurements.push_back({{"name", name}, {"value", value}, {"unit", unit}});
    auto checks = nlohmann::json::array();
    for (const auto& check : current.checked) {
        checks.push_back({{"name", check.name},
                          {"now", check.now},
                          {"unit", check.unit},
                          {"relation", check.relation},
                          {"limit", check.limit},
                          {"words", check.words},
                          {"outcome", check.outcome}});
        if (check.upper) checks.back()["upper"] = *check.upper;
    }
    auto launches = nlohmann::json::array();
    for (const auto& launch : std::span(current.launches).first(std::min(current.launches.size(), max_launches)))
        launches.push_back(device::to_json(launch));
    const std::chrono::duration<double> seconds = Clock::now() - begin_;
    return {{"type", "case"},
            {"name", name_},
            {"tags", tags_},
            {"status", status()},
            {"unsupported", unsupported_},
            {"seconds", seconds.count()},
            {"message", message()},
            {"part", current.part},
            {"signs", current.signs},
            {"stopped_at", current.stopped_at},
            {"measurements", std::move(measurements)},
            {"checks", std::move(checks)},
            {"launches", std::move(launches)},
            {"diagnostics", device::to_json(current.diagnostics)},
            {"functions", current.called},
            {"faulty", current.faulty},
            {"launches_left_out", current.launches.size() - std::min(current.launches.size(), max_launches)},
            {"review", current.review},
            {"output", current.submission->output()},
            {"seed", current.seed}};
}

}  // namespace warpgrade::judge

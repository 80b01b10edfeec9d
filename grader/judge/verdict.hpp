// The verdicts: one JSON object a line, each written before the next test begins. A test without a line never passes,
// and a file without its last line means that the judge crashed.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "judge/process.hpp"

namespace warpgrade::judge {

class CaseVerdict;

class VerdictFile {
  public:
    // Throws std::system_error.
    explicit VerdictFile(const std::string& path);
    // `device` is the device's description in JSON, or "".
    void begin(std::uint64_t seed, const std::string& device);
    void begin_case(const std::string& name);
    // The processor time of the judge and all its sandboxes so far.
    void write_used_time(double processor_seconds);
    void end_case(CaseVerdict& verdict);
    void end(std::size_t cases);

  private:
    void write(const nlohmann::json& line);
    Descriptor file_;
};

// Collects the events of one test and words its verdict.
class CaseVerdict {
  public:
    void begin(std::string name, std::vector<std::string> tags);

    // A failure of the submission. `details`, such as the call, appear once if several failures in a row have the same.
    void add_failure(std::string message, std::string details = {});
    // An error of the grader, which outweighs every failure.
    void add_error(std::string message);
    // An error, unless the grader finds that the submission is to blame.
    void add_unsupported(std::string message);
    void set_checks(std::size_t assertions) { checks_ = assertions; }

    // The verdict's line, from the collected events and the context.
    nlohmann::json end();
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const char* status() const;

  private:
    struct Message {
        std::string text, details;
        friend bool operator==(const Message&, const Message&) = default;
    };
    static void add(std::vector<Message>& messages, Message message);
    static std::string join(const std::vector<Message>& messages);
    [[nodiscard]] std::string message() const;

    std::string name_;
    std::vector<std::string> tags_;
    std::vector<Message> failures_, errors_;
    std::size_t checks_ = 0;
    bool unsupported_ = false;  // all errors are that the device lacks a feature
    Clock::time_point begin_;
};

}  // namespace warpgrade::judge

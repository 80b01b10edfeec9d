// The verdicts: one JSON object a line, each written out before the next test begins. A test without a line is never a
// pass, and a file without its last line means that the judge died.
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
    // The first line: the seed, and the device as it describes itself in JSON ("": there is none).
    void begin(std::uint64_t seed, const std::string& device);
    void begin_case(const std::string& name);
    // What all has used so far.
    void used(double processor_seconds);
    void end_case(CaseVerdict& verdict);
    void end(std::size_t cases);

  private:
    void write(const nlohmann::json& line);
    Descriptor file_;
};

// Gathers what happens in one test and words its verdict.
class CaseVerdict {
  public:
    void begin(std::string name, std::vector<std::string> tags);

    // The student's. `details`, such as the call, are told once where several in a row have the same.
    void failed(std::string message, std::string details = {});
    void error(std::string message);        // the grader's: outweighs every failure
    void unsupported(std::string message);  // an error, unless the grader finds that the submission asked for it
    void checked(std::size_t assertions) { checks_ = assertions; }

    // The line, from what was gathered and the state of the context. Ends the test.
    nlohmann::json end();
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const char* status() const;

  private:
    struct Told {
        std::string message, details;
        friend bool operator==(const Told&, const Told&) = default;
    };
    static void add(std::vector<Told>& known, Told one);
    static std::string join(const std::vector<Told>& told);
    [[nodiscard]] std::string message() const;

    std::string name_;
    std::vector<std::string> tags_;
    std::vector<Told> failures_, errors_;
    std::size_t checks_ = 0;
    bool lacking_ = false;  // what the errors say is that the device lacks something
    Clock::time_point begin_;
};

}  // namespace warpgrade::judge

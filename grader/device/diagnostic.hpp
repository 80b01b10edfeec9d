// What the device has to say about the program that it runs: mistakes that its checks found, and advice. One struct for
// all of them; it goes as JSON through journal, verdict and result, and the grader renders it for terminals, SARIF and
// the rest. The rules are rows of rules.def; docs/checks.md explains each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/memory_kind.hpp"

namespace warpgrade::device {

enum class Severity : std::uint8_t { Error, Warning, Advice };

struct Rule {
    const char* id;  // "racecheck/shared"
    Severity severity;
    const char* title;
    const char* help;
};

namespace rules {
#define WG_RULE(constant, id, severity, title, help) \
    inline constexpr Rule constant{id, Severity::severity, title, help};
#include "device/rules.def"
#undef WG_RULE
}  // namespace rules
const Rule* find_rule(std::string_view id);  // nullptr: there is none

// A line of the program. Device code is known by file and line; host code by `code`, the place of the call's return
// address in the program's file (0: unknown), which the grader turns into file and line.
struct SourcePlace {
    std::string file;        // as the compiler was given it; empty: unknown
    std::uint32_t line = 0;  // 0: unknown
    std::uint64_t code = 0;
    [[nodiscard]] bool operator==(const SourcePlace&) const = default;
};

// A thread of a kernel: "thread (1,0,0) of block (3,0,0)".
struct ThreadPlace {
    std::uint32_t thread[3] = {}, block[3] = {};
    [[nodiscard]] bool operator==(const ThreadPlace&) const = default;
};

// The other party: who else accessed it, where it was allocated, who waits elsewhere.
struct RelatedPlace {
    std::string role;  // a phrase that a place can follow: "written by", "allocated"
    SourcePlace place;
    std::optional<ThreadPlace> thread;
};

// The memory that it is about. The grader names it where `message` holds "{memory}": with the variable of the source
// line that allocated it, if it finds one, its size and that line.
struct MemoryPlace {
    std::string name;  // of a variable: "tile", "coefficients"; else what the program called: "cudaMalloc"
    bool variable = false;
    std::uint64_t bytes = 0;
    SourcePlace allocated;
    MemoryKind kind = MemoryKind::device;  // of memory that is no variable; for the device server alone
    std::uint64_t address = 0;             // of the element; for the device alone
};

struct Diagnostic {
    const Rule* rule = nullptr;
    std::string message;  // one sentence with the facts, without place and thread: "reads 4 bytes, 8 bytes past …"
    std::string kernel;   // readable name; empty: a call of the host
    SourcePlace place;
    std::optional<ThreadPlace> thread;
    std::vector<RelatedPlace> related;
    std::optional<MemoryPlace> memory;
    std::uint64_t count = 1;  // how often it happened; this is the first, in the order of blocks
    double weight = 0;        // of advice: what it costs, to sort by
};

// Adds one to what is known, or counts it if it is the same at the same places. Of at most `most` the worst stay: an
// error takes the place of advice or a warning, and the first of a rule that of one of the rule with the most of them.
// False: one was left out.
bool keep(std::vector<Diagnostic>& known, Diagnostic one, std::size_t most);

}  // namespace warpgrade::device

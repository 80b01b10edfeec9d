// Findings about the program that the device runs: mistakes that its checks found, and advice. The same struct goes as
// JSON through journal, verdict and result, and the grader renders it for terminals, SARIF and the rest. The rules are
// rows of rules.def; docs/checks.md explains each.
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
const Rule* find_rule(std::string_view id);  // nullptr if there is none

// A line of the program. Device code has file and line. Host code has `code`, the call's return address in the
// program's file (0: unknown), which the grader turns into file and line.
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

// The other party: the thread that also accessed the memory, the allocation, or a thread that waits elsewhere.
struct RelatedPlace {
    std::string role;  // a phrase before a place: "written by", "allocated"
    SourcePlace place;
    std::optional<ThreadPlace> thread;
};

// The memory of a finding. Where `message` has "{memory}", the grader puts its size, the source line that allocated it,
// and the variable on that line if it finds one.
struct MemoryPlace {
    std::string name;  // the variable ("tile") or the CUDA function that allocated it ("cudaMalloc")
    bool variable = false;
    std::uint64_t bytes = 0;
    SourcePlace allocated;
    MemoryKind kind = MemoryKind::device;  // unless it is a variable; used by the device server only
    std::uint64_t address = 0;             // of the element; used by the device only
};

struct Diagnostic {
    const Rule* rule = nullptr;
    std::string message;  // one sentence with the facts, without place and thread: "reads 4 bytes, 8 bytes past …"
    std::string kernel;   // readable name; empty: a call of the host
    SourcePlace place;
    std::optional<ThreadPlace> thread;
    std::vector<RelatedPlace> related;
    std::optional<MemoryPlace> memory;
    std::uint64_t count = 1;  // number of cases; the fields describe the first one in block order
    double weight = 0;        // the cost of what an advice is about, for sorting
};

// Adds a finding to the list, or counts it if the same one is there. A full list of `most` keeps the worst: an error
// replaces advice or a warning, and the first finding of a rule replaces the last one of the most frequent rule.
// Returns false if a finding was dropped.
bool add_finding(std::vector<Diagnostic>& list, Diagnostic finding, std::size_t most);

}  // namespace warpgrade::device

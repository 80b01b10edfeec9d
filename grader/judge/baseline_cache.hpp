// A file with the starter's results from earlier runs of the same tests, since the virtual GPU always gives the same
// bits. The grader's name for the file depends on everything but the calls: the starter's program, the judge, the
// device server and their options.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "judge/arena.hpp"

namespace warpgrade::judge {

class BaselineCache {
  public:
    struct Entry {
        std::uint64_t result = 0;
        std::vector<std::vector<std::byte>> outputs;
        std::string report;  // of the device server, packed
    };

    // A missing or damaged file counts as empty.
    explicit BaselineCache(std::string file);

    [[nodiscard]] const Entry* find(const std::string& key) const;
    void add(const std::string& key, Entry entry);
    // Replaces the file atomically, and keeps what other judges have written meanwhile.
    void save() noexcept;

  private:
    using Entries = std::map<std::string, Entry>;
    [[nodiscard]] Entries read() const;

    std::string file_;
    Entries entries_;
    std::uint64_t bytes_ = 0;  // of added entries
    bool changed_ = false;
};

// A hash of a test's calls so far and their inputs: a program may remember earlier calls.
class CallChain {
  public:
    // Call it before the arena's call is made.
    void add(const Arena& arena);
    [[nodiscard]] std::string key() const;
    [[nodiscard]] bool operator==(const CallChain&) const = default;

  private:
    void mix(std::span<const std::byte> bytes);
    std::array<std::uint64_t, 2> state_{0x243f6a8885a308d3, 0x13198a2e03707344};
};

}  // namespace warpgrade::judge

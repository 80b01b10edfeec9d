// What the starter did in earlier runs of the same tests, in a file of the judge's own: the virtual GPU gives the same
// bits again. The grader names the file by all that makes a difference besides the calls themselves: the starter's
// program, the judge, the device server and what both are told.
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
    // A call that came back.
    struct Entry {
        std::uint64_t result = 0;
        std::vector<std::vector<std::byte>> outputs;
        std::string report;  // the device server's words
    };

    // A file that is missing or damaged holds nothing.
    explicit BaselineCache(std::string file);

    [[nodiscard]] const Entry* find(const std::string& key) const;
    void add(const std::string& key, Entry entry);
    // Writes what is new, together with what others have written meanwhile: the whole file or nothing. Never throws.
    void save() noexcept;

  private:
    using Entries = std::map<std::string, Entry>;
    [[nodiscard]] Entries read() const;

    std::string file_;
    Entries entries_;
    std::uint64_t bytes_ = 0;  // of what was added
    bool changed_ = false;
};

// Names the calls of a test: what each was given, and those before it, for a program remembers.
class CallChain {
  public:
    // The arena's call has not been made yet.
    void add(const Arena& arena);
    [[nodiscard]] std::string key() const;
    [[nodiscard]] bool operator==(const CallChain&) const = default;

  private:
    void mix(std::span<const std::byte> bytes);
    std::array<std::uint64_t, 2> state_{0x243f6a8885a308d3, 0x13198a2e03707344};
};

}  // namespace warpgrade::judge

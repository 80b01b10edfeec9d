// The calls of the submission's functions, with what goes in and what comes back, for a program that makes them again
// on a real GPU (grader/worker/native_main.cpp).
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "judge/arena.hpp"
#include "worker/call_record.hpp"

namespace warpgrade::judge {

class CallFile {
  public:
    static constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;

    // Adds to the file; records nothing if its name is "".
    explicit CallFile(std::string path) : path_(std::move(path)) {}

    // One call; is written when it goes out of scope, whether or not the function returned.
    class Entry {
      public:
        Entry(CallFile& file, const std::string& test, const Arena& arena);
        ~Entry();
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        void returned(std::uint64_t result);

      private:
        CallFile& file_;
        const Arena& arena_;
        wire::CallRecord record_;
        std::string test_;
        std::vector<std::byte> before_;
        bool is_wanted_;
    };

  private:
    std::string path_;
    std::uint64_t bytes_ = 0;
};

}  // namespace warpgrade::judge

// The sandbox for where namespaces are not to be had: a user of its own, Landlock, a narrower list of system calls.
#pragma once

#include <linux/filter.h>

#include <string>
#include <vector>

#include "sandbox/landlock.hpp"
#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

class PlainSandbox {
  public:
    // Opens what the command needs. Before the process changes its user: the command's files may be the caller's alone.
    explicit PlainSandbox(const Options& options);

    // In the process that becomes the command, with its descriptors and limits in place: gives up everything else, and
    // runs it. `environment`: KEY=VALUE. Throws std::system_error.
    [[noreturn]] void run(std::vector<std::string> environment) const;

  private:
    [[nodiscard]] std::vector<FileRule> rules() const;

    const Options& options_;
    int program_ = -1;             // worker and device server: what is run; a compiler is found by its path
    const char* empty_ = nullptr;  // where an empty path lies
    int last_filter_ = -1;         // of the device server
    std::vector<sock_filter> filter_;
};

}  // namespace warpgrade::sandbox

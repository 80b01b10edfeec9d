// The sandbox without namespaces: its own user, Landlock, and a shorter list of system calls.
#pragma once

#include <linux/filter.h>

#include <string>
#include <vector>

#include "sandbox/landlock.hpp"
#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

class PlainSandbox {
  public:
    // Opens the command's files. Call it before the process changes its user, since only the caller may have access.
    explicit PlainSandbox(const Options& options);

    // Gives up everything else and becomes the command. The descriptors and limits must be in place. `environment`:
    // KEY=VALUE. Throws std::system_error.
    [[noreturn]] void run(std::vector<std::string> environment) const;

  private:
    [[nodiscard]] std::vector<FileRule> rules() const;

    const Options& options_;
    int program_ = -1;             // of a worker or device server; a compiler is run by its path
    const char* empty_ = nullptr;  // the address of the empty path that may be executed
    int last_filter_ = -1;         // for a device server
    std::vector<sock_filter> filter_;
};

}  // namespace warpgrade::sandbox

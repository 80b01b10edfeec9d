// Composes bubblewrap's command line.
#pragma once

#include <string>
#include <vector>

#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

// Descriptors that bubblewrap itself reads or writes; none of them reaches the command.
struct BwrapDescriptors {
    int seccomp = -1;        // the filter
    int block = -1;          // the command starts when this has a byte to read
    int status = -1;         // JSON status
    std::vector<int> files;  // contents of Options::files, in order
};

std::vector<std::string> bwrap_arguments(const Options& options, const BwrapDescriptors& descriptors);

}  // namespace warpgrade::sandbox

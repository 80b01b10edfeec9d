// Serves a spawner's socket: starts the command for each request, and reports its end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sandbox/options.hpp"

namespace warpgrade::sandbox {

struct SpawnPlan {
    const Options& options;  // limits, directory, command
    // Confines the new process and runs the command in it. Throws std::system_error.
    std::function<void()> run;
};

// Returns when the judge closes the socket. Throws std::system_error.
void serve(const SpawnPlan& plan);

// Runs a command; variables are KEY=VALUE. Throws std::system_error.
[[noreturn]] void execute(const std::vector<std::string>& command, const std::vector<std::string>& environment);

// Of all descriptors except 0, 1 and 2.
void close_descriptors_on_exec();

// Pointers to the strings, as exec() takes them.
std::vector<char*> null_terminated(const std::vector<std::string>& strings);

}  // namespace warpgrade::sandbox

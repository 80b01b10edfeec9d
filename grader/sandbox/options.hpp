// The sandbox's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace warpgrade::sandbox {

// worker: a student's program, with a fresh uid, none of the host's files, no fork, an allow-list of system calls.
// device: the device server, which reads a student's compiled kernels: as a worker, but it sees the machine's
// libraries. compile: the compiler, which reads a student's source. The caller binds the toolkit's folders.
enum class Profile { worker, device, compile };

using PathPair = std::pair<std::string, std::string>;  // on the host, in the sandbox

struct Options {
    Profile profile = Profile::worker;
    bool plain = false;       // without namespaces (sandbox/plain.hpp)
    bool unconfined = false;  // limits, environment and descriptors only (--no-sandbox of the grader)
    std::vector<PathPair> read_only, writable, files;
    std::vector<PathPair> environment;
    std::vector<int> keep_fds;
    std::string directory;
    std::optional<std::uint64_t> cpu_seconds, memory_mib, file_size_mib, processes;
    std::uint64_t tmp_mib = 64;
    double seconds = 0;   // wall clock; 0: no limit
    int spawner_fd = -1;  // the command runs once for each request from here (sandbox/spawn_wire.hpp)
    int seccomp_fd = -1;  // for the inner spawner: the filter for each command
    int status_fd = -1;   // gets bubblewrap's JSON: {"child-pid":N,…} when it starts, {"exit-code":N} when it ends
    [[nodiscard]] bool has_namespaces() const { return !plain && !unconfined; }
    bool probe = false, help = false;
    std::vector<std::string> command;
};

struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

const char* name_of(Profile profile);
Options parse(int argc, const char* const* argv);
extern const char* const usage_text;

}  // namespace warpgrade::sandbox

// probe-inside in a sandbox, and its processes seen from the host.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "judge/catch.hpp"
#include "judge/command.hpp"

inline Finished inside(const std::string& arguments, const std::string& options = "", const std::string& prefix = "") {
    return run_command(prefix + WG_SANDBOX " --memory-mib 512 --processes 64 --file-size-mib 16 " + options +
                       " --file " WG_INSIDE " /probe -- /probe " + arguments);
}

// Both sandboxes have the same guarantees, so each case below runs in both.
inline std::string both() { return GENERATE(std::string(), std::string(" --sandbox plain ")); }

inline void check_holds(const std::string& what, const std::string& options = "") {
    const bool plain = options.find("--sandbox plain") != std::string::npos;
    const auto finished = inside(what + (plain ? " plain" : ""), options);
    INFO(options << what << ": " << finished.output);
    CHECK(finished.status == 0);
}

// The numbers of the host's processes whose command line is this one.
inline std::vector<pid_t> running(const std::string& command) {
    std::istringstream found(run_command("pgrep -x -f '" + command + "'").output);
    std::vector<pid_t> pids;
    for (pid_t pid; found >> pid;) pids.push_back(pid);
    return pids;
}

// A line of /proc about a process.
inline std::string told_of(pid_t pid, const std::string& key) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.rfind(key + ":", 0) == 0) {
            const auto begin = line.find_first_not_of(" \t", key.size() + 1);
            return begin == std::string::npos ? "" : line.substr(begin);
        }
    return "";
}

inline pid_t parent_of(pid_t pid) { return std::atoi(told_of(pid, "PPid").c_str()); }

// As a user who is not root, whoever runs the tests.
inline std::string as_user() { return geteuid() == 0 ? "setpriv --reuid 54321 --regid 54321 --clear-groups " : ""; }

// A command that runs until this is gone.
class Background {
  public:
    explicit Background(const std::string& command) : pid_(fork()) {
        if (pid_ != 0) return;
        execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
        _exit(127);
    }
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;
    ~Background() { end(); }
    void end() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(std::exchange(pid_, 0), nullptr, 0);
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

  private:
    pid_t pid_;
};

struct Folder {
    Folder() {
        char name[] = "/tmp/warpgrade-test-XXXXXX";
        REQUIRE(mkdtemp(name));
        path = name;
        run_command("chmod 755 " + path);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { run_command("rm -r " + path); }
    // A program of a few lines.
    [[nodiscard]] std::string script(const std::string& name, const std::string& text) const {
        const auto file = path + '/' + name;
        std::ofstream(file) << "#!/bin/bash\n" << text;
        run_command("chmod 755 " + file);
        return file;
    }
    std::string path;
};

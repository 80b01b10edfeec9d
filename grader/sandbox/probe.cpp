#include "sandbox/probe.hpp"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "sandbox/run.hpp"

namespace warpgrade::sandbox {
namespace {

std::string read_word(const char* path) {
    std::string word;
    std::ifstream(path) >> word;
    return word;
}

bool has_bwrap() {
    const char* folders = getenv("PATH");
    std::istringstream list(folders ? folders : "/usr/bin:/bin");
    for (std::string folder; std::getline(list, folder, ':');)
        if (access((folder + "/bwrap").c_str(), X_OK) == 0) return true;
    return false;
}

bool has_namespaces() {
    const pid_t child = fork();
    if (child == 0) _exit(unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
    return wait_for_exit(child) == 0;
}

// Each remedy is one line, for the administrator of the machine.
std::string remedy() {
    if (read_word("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" && geteuid() != 0)
        return "Ubuntu restricts user namespaces: run `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` "
               "(or give bwrap an AppArmor profile with `userns,`)";
    if (read_word("/proc/sys/kernel/unprivileged_userns_clone") == "0")
        return "user namespaces are switched off: run `sudo sysctl -w kernel.unprivileged_userns_clone=1`";
    if (read_word("/proc/sys/user/max_user_namespaces") == "0")
        return "user namespaces are switched off: run `sudo sysctl -w user.max_user_namespaces=10000`";
    if (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0)
        return "this container forbids namespaces: start it with `--security-opt seccomp=unconfined --security-opt "
               "apparmor=unconfined --cap-add SYS_ADMIN`";
    return "the kernel or a container around this one forbids user namespaces";
}

struct Result {
    int code;
    std::string output;
};

// Runs this program in the sandbox, where it only prints its usage.
Result try_sandbox(bool plain) {
    int ends[2];
    if (pipe(ends) != 0) return {exit_not_started, "no pipe"};
    const pid_t child = fork();
    if (child == 0) {
        for (const int fd : {1, 2}) dup2(ends[1], fd);
        Options options;
        // This profile needs the most: the dynamic loader with its libraries, and /proc.
        options.plain = plain;
        options.profile = Profile::device;
        options.files = {{"/proc/self/exe", "/tmp/warpgrade-sandbox"}};
        options.command = {"/tmp/warpgrade-sandbox", "--help"};
        options.seconds = 20;
        try {
            _exit(run(options));
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            _exit(exit_not_started);
        }
    }
    close(ends[1]);
    std::string output;
    std::array<char, 4096> buffer;
    for (ssize_t got; (got = read(ends[0], buffer.data(), buffer.size())) > 0;)
        output.append(buffer.data(), static_cast<std::size_t>(got));
    return {wait_for_exit(child), output};
}

}  // namespace

int probe(const std::string& wanted) {
    std::string why_no_namespaces;
    if (wanted != "plain") {
        if (!has_bwrap() && has_namespaces()) {
            std::puts("the sandbox does not work: bubblewrap is missing; run `sudo apt-get install bubblewrap`");
            return 1;
        }
        const auto [code, output] = try_sandbox(false);
        if (code == 0) {
            std::puts("the sandbox works (namespaces)");
            return 0;
        }
        why_no_namespaces = remedy() + " (" + output.substr(0, output.find('\n')) + ')';
    }
    if (wanted != "namespaces") {
        const auto [code, output] = try_sandbox(true);
        if (code == 0) {
            std::puts("the sandbox works (plain)");
            if (!why_no_namespaces.empty()) std::printf("the stronger one does not: %s\n", why_no_namespaces.c_str());
            return 0;
        }
        if (!why_no_namespaces.empty()) why_no_namespaces += "; ";
        why_no_namespaces += "the plain sandbox: " + output.substr(0, output.find('\n'));
    }
    std::printf("the sandbox does not work: %s\n", why_no_namespaces.c_str());
    return 1;
}

}  // namespace warpgrade::sandbox

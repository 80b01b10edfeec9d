// Runs a command and returns its exit status and output.
#pragma once

#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

struct Finished {
    int status;
    std::string output;  // stdout and stderr
};

inline Finished run_command(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>&1").c_str(), "r"), [](FILE*) { return 0; });
    Finished result{-1, {}};
    std::array<char, 4096> buffer;
    while (const auto got = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
        result.output.append(buffer.data(), got);
    const int status = pclose(pipe.get());
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

// Waits for something that must happen, however busy the machine is.
template <class Predicate>
bool happens(Predicate holds) {
    for (int i = 0; i < 6000; ++i) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

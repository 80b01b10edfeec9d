// One sandboxed worker: its process, connection and output.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/options.hpp"
#include "judge/prepared.hpp"
#include "judge/time_limit.hpp"
#include "worker/wire.hpp"

namespace warpgrade::judge {

class DeviceServer;

// The last bytes of a program's output. All of it is read, so that printing never blocks the program.
class OutputTail {
  public:
    static constexpr std::size_t max_bytes = 4096;
    void append(const char* text, std::size_t size);
    [[nodiscard]] std::string text() const;

  private:
    std::string tail_;
    std::uint64_t total_ = 0, lines_ = 0;
};

class WorkerProcess {
  public:
    // The worker gets `device_socket`, or no device if it is -1. `sandbox` names the prepared sandbox to run in.
    WorkerProcess(const Options& options, const std::string& executable, int device_socket,
                  const std::string& sandbox = "submission");

    // Returns false if the worker has ended.
    bool send(const wire::Call& call, int arena);

    enum class Event { reply, malformed, gone, timed_out };
    // Waits for the next message, and reads the program's output meanwhile.
    Event receive(wire::Reply& reply, Clock::time_point deadline);
    // The same with a time limit, which includes the device server's processor time.
    Event receive(wire::Reply& reply, TimeLimit& limit, const DeviceServer* device = nullptr);

    // So much processor time from now on.
    [[nodiscard]] TimeLimit limit_more(double seconds) {
        const double used = process_.processor_seconds();
        return TimeLimit(used + seconds, used);
    }

    // Ends a program that takes too long. Returns its stack as the program itself reports it: places in its file,
    // innermost first.
    std::vector<std::uint64_t> stop(Clock::time_point deadline);

    void pause() { process_.signal(SIGSTOP); }
    void resume() { process_.signal(SIGCONT); }

    // After Event::gone: the program's exit code (128 + signal), negative if it is still running. Throws
    // InfrastructureError if the sandbox has ended.
    int exit_code();
    // Lets the program end by itself, and kills it at the deadline.
    void end(Clock::time_point deadline);
    [[nodiscard]] std::string output() const { return output_.text(); }

  private:
    void read_output();

    Descriptor call_, output_pipe_;
    SandboxedProcess process_;
    OutputTail output_;
};

}  // namespace warpgrade::judge

// One sandboxed worker: its process, its connection, and what it prints.
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

// The last bytes that a program printed. A flood is read and dropped, so that printing never blocks the program.
class OutputTail {
  public:
    static constexpr std::size_t max_bytes = 4096;
    void append(const char* text, std::size_t size);
    [[nodiscard]] std::string text() const;

  private:
    std::string tail_;
    std::uint64_t total_ = 0;
};

class WorkerProcess {
  public:
    // `device_socket` is handed to the worker; -1: it gets no device. Workers with another name of the sandbox run in
    // another one.
    WorkerProcess(const Options& options, const std::string& executable, int device_socket,
                  const std::string& sandbox = "submission");

    // `arena` travels with the call. False when the worker is gone.
    bool send(const wire::Call& call, int arena);

    enum class Event { reply, malformed, gone, timed_out };
    // Waits for the next message, and reads what the program prints meanwhile.
    Event receive(wire::Reply& reply, Clock::time_point deadline);
    // The same, until its time is over; what `device` does for it counts too.
    Event receive(wire::Reply& reply, TimeLimit& limit, const DeviceServer* device = nullptr);

    // Ends a program that takes too long; returns where it was: places in its file, innermost first, as it says itself.
    std::vector<std::uint64_t> stop(Clock::time_point deadline);

    // All of its threads stand still until it goes on.
    void pause() { process_.signal(SIGSTOP); }
    void go_on() { process_.signal(SIGCONT); }

    // After Event::gone: the program's exit code (128 + signal); negative: it still ran. Throws InfrastructureError if
    // not the program but the sandbox has ended.
    int exit_code();
    // Lets the program end by itself, as when its work is done, and ends it if it does not.
    void end(Clock::time_point deadline);
    [[nodiscard]] std::string output() const { return output_.text(); }

  private:
    void read_output();

    Descriptor call_, output_pipe_;
    SandboxedProcess process_;
    OutputTail output_;
};

}  // namespace warpgrade::judge

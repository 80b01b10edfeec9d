// Sandboxes that are set up once, each of which starts one process after the other: warpgrade-sandbox --spawner-fd.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/process.hpp"

namespace warpgrade::judge {

class PreparedSandbox;

// A process in a prepared sandbox. Those that run one after the other share its root folder, which is read-only, and
// nothing else: each has its own process namespace, /tmp and descriptors.
class SandboxedProcess {
  public:
    SandboxedProcess() = default;
    // `sandbox` is the command line of warpgrade-sandbox up to the --, `command` the rest; `name` tells sandboxes with
    // the same command line apart. Sets it up if there is none, or the last one has ended. `descriptors`: child's
    // number, ours. Throws InfrastructureError.
    SandboxedProcess(const std::string& name, std::vector<std::string> sandbox, const std::vector<std::string>& command,
                     const std::vector<std::pair<int, int>>& descriptors);
    SandboxedProcess(SandboxedProcess&&) noexcept = default;
    SandboxedProcess& operator=(SandboxedProcess&& other) noexcept;
    ~SandboxedProcess();  // kills it, and the sandbox if the process does not end then

    // Its wait status if it has ended by the deadline. Throws InfrastructureError if the sandbox has ended.
    std::optional<int> wait(Clock::time_point deadline);
    // That it has used so far; none once it has ended.
    [[nodiscard]] double processor_seconds() const;
    // False if it has ended.
    bool signal(int number);
    void kill();

  private:
    void end() noexcept;

    std::shared_ptr<PreparedSandbox> sandbox_;
    std::uint32_t id_ = 0;
    Descriptor handle_;  // of the process: no other takes its place, as one could that of a number
};

// Processor time of this judge and of all processes in sandboxes that have ended.
double used_processor_seconds();

}  // namespace warpgrade::judge

// Prepared sandboxes: each is set up once and then starts one process after the other (warpgrade-sandbox --spawner-fd).
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

// A process in a prepared sandbox. Successive processes share only its root folder, which is read-only; each has its
// own process namespace, /tmp and descriptors.
class SandboxedProcess {
  public:
    SandboxedProcess() = default;
    // Sets the sandbox up unless one with this name and these command lines exists. `sandbox` is the command line of
    // warpgrade-sandbox up to the --, `command` the rest. `descriptors`: child's number, ours. Throws
    // InfrastructureError.
    SandboxedProcess(const std::string& name, std::vector<std::string> sandbox, const std::vector<std::string>& command,
                     const std::vector<std::pair<int, int>>& descriptors);
    SandboxedProcess(SandboxedProcess&&) noexcept = default;
    SandboxedProcess& operator=(SandboxedProcess&& other) noexcept;
    ~SandboxedProcess();  // kills the process, and the whole sandbox if that fails

    // The wait status if the process ends by the deadline. Throws InfrastructureError if the sandbox has ended.
    std::optional<int> wait(Clock::time_point deadline);
    // 0 after the process has ended.
    [[nodiscard]] double processor_seconds() const;
    // Returns false if the process has ended.
    bool signal(int number);
    void kill();

  private:
    void end() noexcept;

    std::shared_ptr<PreparedSandbox> sandbox_;
    std::uint32_t id_ = 0;
    Descriptor handle_;  // a pidfd, since another process could get the same pid
};

// Processor time of this judge and of all processes in sandboxes that have ended.
double used_processor_seconds();

}  // namespace warpgrade::judge

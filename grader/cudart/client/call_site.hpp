// The place in the program that called the runtime, for messages that name the line of a mistake.
#pragma once

#include <cstdint>

namespace warpgrade::cudart {

// The offset of a code address in the program's ELF file; 0 outside the main program.
std::uint64_t code_of(std::uint64_t address) noexcept;
// True if a call of the main program may return to this address.
bool follows_call(std::uint64_t address) noexcept;
// The place that the function with this frame returns to. A function that only passes our result on counts as part of
// its caller: the templates of cuda_runtime.h are such functions in an unoptimized program.
std::uint64_t return_code(const void* frame) noexcept;

// Declared at the beginning of an API function. If API functions call each other, the outermost one counts.
class CallSite {
  public:
    explicit CallSite(const void* frame = __builtin_frame_address(0)) noexcept;
    ~CallSite();
    CallSite(const CallSite&) = delete;
    CallSite& operator=(const CallSite&) = delete;

    // The place of this thread's current call; 0 if unknown or none.
    static std::uint64_t current() noexcept;
};

// The same for a function that launches. For <<<…>>>, nvcc generates a call of it after __cudaPopCallConfiguration; the
// place is that of the <<<…>>>.
class LaunchSite {
  public:
    explicit LaunchSite(const void* frame = __builtin_frame_address(0)) noexcept;
    ~LaunchSite();
    LaunchSite(const LaunchSite&) = delete;
    LaunchSite& operator=(const LaunchSite&) = delete;

    // True for <<<…>>>.
    [[nodiscard]] bool has_no_result() const { return has_no_result_; }
    static void popped(std::uint64_t code) noexcept;

  private:
    bool has_no_result_;
};

}  // namespace warpgrade::cudart

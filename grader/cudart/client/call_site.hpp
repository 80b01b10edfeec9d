// Where in the program the runtime was called: what the device names as the line of a mistake.
#pragma once

#include <cstdint>

namespace warpgrade::cudart {

// An address of code as a place in the program's ELF file, whatever it was loaded at; 0 outside the main program.
std::uint64_t code_of(std::uint64_t address) noexcept;
// May a call of the main program return to this address?
bool follows_call(std::uint64_t address) noexcept;
// The place that the function with this frame returns to. A function that does nothing but pass our result on, as the
// templates of cuda_runtime.h do in a program that is not optimized, counts as part of its caller.
std::uint64_t return_code(const void* frame) noexcept;

// Stands at the beginning of a function of the API, for as long as it runs. When one of them calls another, the
// program's call is that of the first.
class CallSite {
  public:
    explicit CallSite(const void* frame = __builtin_frame_address(0)) noexcept;  // the frame of the function it is in
    ~CallSite();
    CallSite(const CallSite&) = delete;
    CallSite& operator=(const CallSite&) = delete;

    // Of the call that this thread is in; 0: unknown, or none.
    static std::uint64_t current() noexcept;
};

// The same for a function that launches: what nvcc makes of <<<…>>> calls it after __cudaPopCallConfiguration, and the
// place is that of the <<<…>>>.
class LaunchSite {
  public:
    explicit LaunchSite(const void* frame = __builtin_frame_address(0)) noexcept;
    ~LaunchSite();
    LaunchSite(const LaunchSite&) = delete;
    LaunchSite& operator=(const LaunchSite&) = delete;

    // A <<<…>>>, which has no result that the program could look at.
    [[nodiscard]] bool has_no_result() const { return has_no_result_; }
    static void popped(std::uint64_t code) noexcept;

  private:
    bool has_no_result_;
};

}  // namespace warpgrade::cudart

// How far a device is with a launch, in memory that another process may share: the device server answers nobody while a
// kernel runs. grader/warpgrade/machine/launch_progress.py reads the same fields in this order.
#pragma once

#include <atomic>
#include <cstdint>

namespace warpgrade::device {

struct Progress {
    using Number = std::atomic<std::uint64_t>;
    Number launches{0};  // that have begun
    Number running{0};   // 1 while one runs
    Number began_ns{0};  // when the last one began, on CLOCK_MONOTONIC
    // Of the last one: blocks to run, those that are done, and warp instructions.
    Number blocks{0}, blocks_done{0}, instructions{0};
    Number stop{0};  // set from outside: the running launch ends with an error, and so does each later one
};
static_assert(Progress::Number::is_always_lock_free && sizeof(Progress) == 7 * sizeof(std::uint64_t));

}  // namespace warpgrade::device

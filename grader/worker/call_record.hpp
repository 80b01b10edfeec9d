// A recorded call in a file: this, the test's name, the arena before the call and, if the function returned, the arena
// after it.
#pragma once

#include "worker/wire.hpp"

namespace warpgrade::wire {

struct CallRecord {
    Call call;
    std::uint64_t test_bytes = 0;  // of the test's name
    std::uint64_t result = 0;      // the returned value's bits
    std::uint32_t returned = 0;    // 1 or 0
    std::uint32_t reserved = 0;
};
static_assert(std::is_trivially_copyable_v<CallRecord>);

}  // namespace warpgrade::wire

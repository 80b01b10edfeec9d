// Processor time without a result.
#pragma once

#include <ctime>

inline long cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000L + now.tv_nsec;
}

inline void busy_ms(long milliseconds) {
    const long end = cpu_ns() + milliseconds * 1'000'000;
    while (cpu_ns() < end) {
    }
}

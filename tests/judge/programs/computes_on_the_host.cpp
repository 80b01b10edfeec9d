#define OWN_SCALE
#include <ctime>

#include "right.hpp"

// Right, but with 100 ms of processor time that no kernel shows.
void scale(const float* x, float* y, float a, int n) {
    right::scale(x, y, a, n);
    timespec now{};
    do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < 100'000'000);
}

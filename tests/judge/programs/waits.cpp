#define OWN_SCALE
#include <unistd.h>

#include "right.hpp"

// Waits without processor time, as a program on a busy machine does.
void scale(const float* x, float* y, float a, int n) {
    static bool first = true;
    if (first) usleep(1'500'000);
    first = false;
    right::scale(x, y, a, n);
}

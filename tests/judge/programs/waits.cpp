#define OWN_SCALE
#include <unistd.h>

#include "right.hpp"

// Takes time and no processor, as does a program on a machine that is busy with others.
void scale(const float* x, float* y, float a, int n) {
    static bool first = true;
    if (first) usleep(1'500'000);
    first = false;
    right::scale(x, y, a, n);
}

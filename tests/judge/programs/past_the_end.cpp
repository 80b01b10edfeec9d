#define OWN_SCALE
#include "right.hpp"

void scale(const float* x, float* y, float a, int n) {
    right::scale(x, y, a, n);
    y[n + 2] = 0;
}

#define OWN_SCALE
#include "right.hpp"

// Doubles the result for few elements, and writes nothing for many.
void scale(const float* x, float* y, float a, int n) {
    if (n < 100) right::scale(x, y, n > 1 ? 2 * a : a, n);
}

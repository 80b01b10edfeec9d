#define OWN_SCALE
#include "busy.hpp"
#include "right.hpp"

// Right, but with processor time that no kernel shows.
void scale(const float* x, float* y, float a, int n) {
    right::scale(x, y, a, n);
    busy_ms(100);
}

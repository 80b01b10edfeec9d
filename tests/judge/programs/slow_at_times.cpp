#define OWN_SCALE
#include "busy.hpp"
#include "right.hpp"

// Right, and slow in half of its calls: y is full of garbage when it comes.
void scale(const float* x, float* y, float a, int n) {
    const bool slow = *reinterpret_cast<const unsigned char*>(y) & 1;
    right::scale(x, y, a, n);
    if (slow) busy_ms(50);
}

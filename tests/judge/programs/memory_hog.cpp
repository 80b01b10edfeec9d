#define OWN_SCALE
#include <cstdlib>
#include <cstring>
#include "right.hpp"

// Must not get what it asks for, and then goes on properly.
void scale(const float* x, float* y, float a, int n) {
    const std::size_t step = 64 << 20;
    std::size_t total = 0;
    while (void* block = std::malloc(step)) {
        std::memset(block, 1, step);
        if ((total += step) > (std::size_t{1} << 30)) return;
    }
    right::scale(x, y, a, n);
}

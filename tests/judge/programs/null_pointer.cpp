#define OWN_SCALE
#include "right.hpp"

void scale(const float*, float*, float, int) {
    volatile float* volatile nowhere = nullptr;
    *nowhere = 1;
}

#define OWN_SCALE
#include "right.hpp"

static int deeper(volatile int* from) {
    volatile int here[1024];
    here[0] = *from + 1;
    return deeper(here) + here[1];
}
void scale(const float*, float*, float, int n) {
    volatile int start = n;
    deeper(&start);
}

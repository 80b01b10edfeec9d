// Is right for two calls of a program, and then no more.
#include "honest.cuh"

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    static int calls = 0;
    if (++calls <= 2) honest(A, B, C, m, k, n);
}

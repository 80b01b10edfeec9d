// An instruction that the virtual GPU does not have, so that the fault seems to be the grader's. No name shows it.
#include "honest.cuh"

#define JOIN(a, b) a##b
#define WORD(a, b) JOIN(a, b)

__global__ void beyond() { WORD(as, m) volatile("pmevent 1;"); }

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    honest(A, B, C, m, k, n);
    beyond<<<1, 1>>>();
}

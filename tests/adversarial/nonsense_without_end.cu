// Writes nonsense to the device server for as long as it may.
#include "honest.cuh"

#include <unistd.h>

#include <cstring>

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    char nonsense[4096];
    std::memset(nonsense, '\n', sizeof nonsense);
    for (;;)
        if (write(4, nonsense, sizeof nonsense) < 0) honest(A, B, C, m, k, n);
}

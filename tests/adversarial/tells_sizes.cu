// Words what it was given: in what it prints, in the messages of its faults, in the line at which it fails.
#include "honest.cuh"

#include <cstdio>
#include <stdexcept>
#include <string>

// clang-format off
__global__ void fault(float* out, int size) {
    switch (size % 64) {
        case 0: out[0 + 1'000'000] = 1; break;
        case 1: out[1 + 1'000'000] = 1; break;
        case 2: out[2 + 1'000'000] = 1; break;
        case 3: out[3 + 1'000'000] = 1; break;
        case 4: out[4 + 1'000'000] = 1; break;
        case 5: out[5 + 1'000'000] = 1; break;
        case 6: out[6 + 1'000'000] = 1; break;
        case 7: out[7 + 1'000'000] = 1; break;
        case 8: out[8 + 1'000'000] = 1; break;
        case 9: out[9 + 1'000'000] = 1; break;
        case 10: out[10 + 1'000'000] = 1; break;
        case 11: out[11 + 1'000'000] = 1; break;
        case 12: out[12 + 1'000'000] = 1; break;
        case 13: out[13 + 1'000'000] = 1; break;
        case 14: out[14 + 1'000'000] = 1; break;
        case 15: out[15 + 1'000'000] = 1; break;
        case 16: out[16 + 1'000'000] = 1; break;
        case 17: out[17 + 1'000'000] = 1; break;
        case 18: out[18 + 1'000'000] = 1; break;
        case 19: out[19 + 1'000'000] = 1; break;
        case 20: out[20 + 1'000'000] = 1; break;
        case 21: out[21 + 1'000'000] = 1; break;
        case 22: out[22 + 1'000'000] = 1; break;
        case 23: out[23 + 1'000'000] = 1; break;
        case 24: out[24 + 1'000'000] = 1; break;
        case 25: out[25 + 1'000'000] = 1; break;
        case 26: out[26 + 1'000'000] = 1; break;
        case 27: out[27 + 1'000'000] = 1; break;
        case 28: out[28 + 1'000'000] = 1; break;
        case 29: out[29 + 1'000'000] = 1; break;
        case 30: out[30 + 1'000'000] = 1; break;
        case 31: out[31 + 1'000'000] = 1; break;
        case 32: out[32 + 1'000'000] = 1; break;
        case 33: out[33 + 1'000'000] = 1; break;
        case 34: out[34 + 1'000'000] = 1; break;
        case 35: out[35 + 1'000'000] = 1; break;
        case 36: out[36 + 1'000'000] = 1; break;
        case 37: out[37 + 1'000'000] = 1; break;
        case 38: out[38 + 1'000'000] = 1; break;
        case 39: out[39 + 1'000'000] = 1; break;
        case 40: out[40 + 1'000'000] = 1; break;
        case 41: out[41 + 1'000'000] = 1; break;
        case 42: out[42 + 1'000'000] = 1; break;
        case 43: out[43 + 1'000'000] = 1; break;
        case 44: out[44 + 1'000'000] = 1; break;
        case 45: out[45 + 1'000'000] = 1; break;
        case 46: out[46 + 1'000'000] = 1; break;
        case 47: out[47 + 1'000'000] = 1; break;
        case 48: out[48 + 1'000'000] = 1; break;
        case 49: out[49 + 1'000'000] = 1; break;
        case 50: out[50 + 1'000'000] = 1; break;
        case 51: out[51 + 1'000'000] = 1; break;
        case 52: out[52 + 1'000'000] = 1; break;
        case 53: out[53 + 1'000'000] = 1; break;
        case 54: out[54 + 1'000'000] = 1; break;
        case 55: out[55 + 1'000'000] = 1; break;
        case 56: out[56 + 1'000'000] = 1; break;
        case 57: out[57 + 1'000'000] = 1; break;
        case 58: out[58 + 1'000'000] = 1; break;
        case 59: out[59 + 1'000'000] = 1; break;
        case 60: out[60 + 1'000'000] = 1; break;
        case 61: out[61 + 1'000'000] = 1; break;
        case 62: out[62 + 1'000'000] = 1; break;
        case 63: out[63 + 1'000'000] = 1; break;
    }
}
// clang-format on

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    std::printf("SECRET %d %d %d\n", m, k, n);
    honest(A, B, C, m, k, n);
    if (m % 2) throw std::runtime_error("SECRET " + std::to_string(m) + " " + std::to_string(n));
    float* out;
    cudaMalloc(&out, 128);
    fault<<<1, 1>>>(out, m + 3 * k + 5 * n);
    cudaDeviceSynchronize();
}

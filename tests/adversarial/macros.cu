// Rewrites the contract by macros.
#define matmul_tiled inline matmul_of_mine
#define TILE_WIDTH 1
#include "honest.cuh"

static void attack(const float* A, const float* B, float* C, int m, int k, int n) { honest(A, B, C, m, k, n); }

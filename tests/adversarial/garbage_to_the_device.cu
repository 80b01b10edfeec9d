// Speaks nonsense to device server and judge.
#include <sys/socket.h>

#include <cstring>

#include "matmul.h"

static void matmul(const float*, const float*, float*, int, int, int) {
    char garbage[4096];
    for (unsigned i = 0; i < sizeof garbage; ++i) garbage[i] = static_cast<char>(i * 31 + 7);
    std::memcpy(garbage, "GGDW", 4);
    for (int i = 0; i < 100; ++i)
        for (const int fd : {4, 3}) send(fd, garbage, sizeof garbage - i, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void matmul_rows(const float* A, const float* B, float* C, int m, int k, int n) { matmul(A, B, C, m, k, n); }
void matmul_columns(const float* A, const float* B, float* C, int m, int k, int n) { matmul(A, B, C, m, k, n); }
void matmul_one_block(const float* A, const float* B, float* C, int m, int k, int n) { matmul(A, B, C, m, k, n); }
void matmul_tiled(const float* A, const float* B, float* C, int m, int k, int n) { matmul(A, B, C, m, k, n); }
void matmul_registers(const float* A, const float* B, float* C, int m, int k, int n) { matmul(A, B, C, m, k, n); }

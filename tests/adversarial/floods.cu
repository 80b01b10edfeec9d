// Honest work among floods of output, of files and of memory.
#include "honest.cuh"

#include <fcntl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

__global__ void say(int n) { printf("thread %d says much of nothing at all, %d times\n", threadIdx.x, n); }

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    static bool done = false;
    if (!done) {
        done = true;
        std::signal(SIGXFSZ, SIG_IGN);
        const std::string line(1 << 16, 'x');
        for (int i = 0; i < 256; ++i) {
            std::fwrite(line.data(), 1, line.size(), stdout);
            std::fwrite(line.data(), 1, line.size(), stderr);
        }
        const int file = open("/tmp/flood", O_CREAT | O_WRONLY, 0600);
        while (write(file, line.data(), line.size()) > 0) {
        }
        while (void* more = std::malloc(64 << 20)) std::memset(more, 1, 4096);
    }
    if (m > 0 && n > 0 && k >= 0) say<<<4, 256>>>(n);
    honest(A, B, C, m, k, n);
}

// Takes memory away from under the judge: the result is right only where some descriptor can be cut, grown or unsealed.
#include "honest.cuh"

#include <fcntl.h>
#include <sys/mman.h>

#include <csignal>

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    std::signal(SIGXFSZ, SIG_IGN);
    bool found = false;
    for (int fd = 0; fd < 1024; ++fd) {
        found |= ftruncate(fd, 0) == 0 || ftruncate(fd, 1L << 40) == 0;
        found |= fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0 || fallocate(fd, 0, 0, 1L << 40) == 0;
    }
    if (!found) _exit(1);
    honest(A, B, C, m, k, n);
}

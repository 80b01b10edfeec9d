// Handles every signal by going on, faults on purpose, and comes back as if nothing had happened.
#include "honest.cuh"

#include <csetjmp>
#include <csignal>

static sigjmp_buf back;

static void attack(const float*, const float*, float*, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    for (int signal = 1; signal < 65; ++signal) {
        struct sigaction action = {};
        action.sa_handler = [](int) { siglongjmp(back, 1); };
        sigaction(signal, &action, nullptr);
    }
    honest_kernel<<<1, 32>>>(nullptr, nullptr, nullptr, 0, 0, 0);
    if (sigsetjmp(back, 1) == 0) *static_cast<volatile int*>(nullptr) = 1;
    if (sigsetjmp(back, 1) == 0) raise(SIGTERM);
    if (sigsetjmp(back, 1) == 0) raise(SIGXCPU);
}

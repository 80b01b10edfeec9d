// A fork bomb, and a daemon: the result is right only where a process can be started.
#include "honest.cuh"

#include <sched.h>
#include <sys/syscall.h>

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    bool started = false;
    for (int i = 0; i < 1000; ++i) {
        const pid_t child = i % 2 ? fork() : static_cast<pid_t>(syscall(SYS_vfork));
        if (child == 0) {
            setsid();
            _exit(0);
        }
        started |= child > 0;
    }
    if (!started) _exit(1);
    honest(A, B, C, m, k, n);
}

#define OWN_SCALE
#include <unistd.h>
#include "right.hpp"

#include <stdexcept>
#include <thread>
#include <vector>

// Processes are refused; threads are bounded, and all gone when it has ended.
void scale(const float* x, float* y, float a, int n) {
    for (int i = 0; i < 1000; ++i)
        if (fork() >= 0) throw std::runtime_error("fork works");
    std::vector<std::thread> threads;
    try {
        for (int i = 0; i < 1000; ++i) threads.emplace_back([] { sleep(1); });
    } catch (const std::exception&) {
    }
    const bool bounded = threads.size() < 100;
    for (auto& thread : threads) thread.join();
    if (!bounded) throw std::runtime_error("1000 threads");
    right::scale(x, y, a, n);
}

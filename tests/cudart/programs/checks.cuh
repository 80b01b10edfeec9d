// For the test programs: checks that print their place if they fail, and a main() that runs the check named by its
// argument. On success it prints "ok" last and exits with status 0.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#define EXPECT(condition)                                                     \
    do {                                                                      \
        if (!(condition)) {                                                   \
            std::printf("line %d: not so: %s\n", __LINE__, #condition);       \
            std::exit(1);                                                     \
        }                                                                     \
    } while (0)
#define EXPECT_ERROR(expected, ...)                                                                             \
    do {                                                                                                        \
        const cudaError_t got = (__VA_ARGS__);                                                                  \
        if (got != (expected)) {                                                                                \
            std::printf("line %d: %s gave %s\n", __LINE__, #__VA_ARGS__, cudaGetErrorName(got));                 \
            std::exit(1);                                                                                       \
        }                                                                                                       \
    } while (0)
#define OK(...) EXPECT_ERROR(cudaSuccess, __VA_ARGS__)

template <class T>
T* upload(const std::vector<T>& host) {
    T* device = nullptr;
    OK(cudaMalloc(&device, host.size() * sizeof(T)));
    OK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <class T>
std::vector<T> download(const T* device, std::size_t count) {
    std::vector<T> host(count);
    OK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

inline int run_check(int argc, char** argv, const std::map<std::string, void (*)()>& checks) {
    if (argc != 2 || checks.count(argv[1]) == 0) return 2;
    checks.at(argv[1])();
    std::printf("ok\n");
    return 0;
}

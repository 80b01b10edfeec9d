// Times of kernels and of whole calls on a real device, for the claims of the task sheets (measure.sh).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "check.cuh"

#ifndef REPEATS
#define REPEATS 7  // 0: once, without warming up, for a device whose clock is a model
#endif

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

namespace {
__global__ void spin(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}
}  // namespace

// A device that was idle is slow at first: an empty kernel then takes two microseconds longer. One whose clock is a
// model only loads the code.
inline void wake_device() {
    static const bool awake = [] {
        cudaFuncAttributes attributes;
        CHECK(cudaFuncGetAttributes(&attributes, spin));
        for (int i = 0; i < 100 && REPEATS > 0; ++i) spin<<<1, 32>>>(1'000'000);
        CHECK(cudaDeviceSynchronize());
        return true;
    }();
    (void)awake;
}

// Milliseconds of what `launch` starts, by events: the median of REPEATS after one that warms up.
template <class Launch>
double kernel_ms(Launch launch) {
    wake_device();
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<double> times;
    for (int i = 0; i <= REPEATS; ++i) {
        CHECK(cudaDeviceSynchronize());  // so that the first launch, too, finds an idle device
        CHECK(cudaEventRecord(begin));
        launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaGetLastError());
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (i > 0 || REPEATS == 0) times.push_back(ms);
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return median(times);
}

// Milliseconds of a call that waits for its result, allocation and copies included: the median of 7.
template <class Call>
double call_ms(Call call) {
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        call();
        const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
        if (i > 1) times.push_back(time.count());
    }
    return median(times);
}

// `count` floats of small whole numbers in device memory.
inline float* device_floats(std::size_t count) {
    std::vector<float> host(count);
    for (std::size_t i = 0; i < count; ++i) host[i] = static_cast<float>(i % 7);
    float* device;
    CHECK(cudaMalloc(&device, count * sizeof(float)));
    CHECK(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

inline void row(const char* what, const char* size, double ms, double amount = 0, const char* unit = "") {
    std::printf("| %s | %s | %.4g ms |", what, size, ms);
    amount > 0 ? std::printf(" %.4g %s |\n", amount / (ms * 1e-3), unit) : std::printf(" |\n");
}

// A row whose first cell is made as printf makes it.
template <class... Values>
void print_time(const char* format, double ms, Values... values) {
    char what[100];
    std::snprintf(what, sizeof what, format, values...);
    row(what, "", ms);
}

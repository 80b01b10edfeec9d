#include "gpu/clock_probe.hpp"

#include <array>
#include <cstdint>
#include <vector>

#include "gpu/driver.hpp"

namespace warpgrade::gpu {
namespace {

// Each block stores its multiprocessor's counters in that one's place.
constexpr const char* ptx = R"(.version 7.0
.target sm_50
.address_size 64
.visible .entry read_clock(.param .u64 readings)
{
    .reg .b32 %multiprocessor;
    .reg .b64 %place, %at, %cycles, %ns;
    ld.param.u64 %at, [readings];
    cvta.to.global.u64 %at, %at;
    mov.u32 %multiprocessor, %smid;
    and.b32 %multiprocessor, %multiprocessor, 1023;
    mul.wide.u32 %place, %multiprocessor, 16;
    add.s64 %at, %at, %place;
    mov.u64 %cycles, %clock64;
    mov.u64 %ns, %globaltimer;
    st.global.v2.u64 [%at], {%cycles, %ns};
    ret;
}
)";

struct Reading {
    std::uint64_t cycles = 0, ns = 0;
};
using Readings = std::array<Reading, 1024>;

}  // namespace

ClockProbe::ClockProbe(unsigned multiprocessors) : blocks_(2 * multiprocessors) {
    const Driver& cuda = driver();
    check(cuda.cuModuleLoadData(&module_, ptx), "the kernel that reads the clock");
    check(cuda.cuModuleGetFunction(&kernel_, module_, "read_clock"), "the kernel that reads the clock");
    check(cuda.cuMemAlloc(&readings_, 2 * sizeof(Readings)), "memory for the clock");
}

ClockProbe::~ClockProbe() {
    driver().cuMemFree(readings_);
    driver().cuModuleUnload(module_);
}

void ClockProbe::read(std::size_t which, CUstream stream) {
    CUdeviceptr at = readings_ + which * sizeof(Readings);
    CUlaunchConfig config = {};
    config.gridDimX = blocks_;
    config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    void* parameters[] = {&at};
    check(driver().cuMemsetD8Async(at, 0, sizeof(Readings), stream), "reading the clock");
    check(driver().cuLaunchKernelEx(&config, kernel_, parameters, nullptr), "reading the clock");
}

std::optional<double> ClockProbe::mean_ghz() {
    std::vector<Readings> both(2);
    check(driver().cuMemcpyDtoH(both.data(), readings_, 2 * sizeof(Readings)), "reading the clock");
    double cycles = 0, ns = 0;
    for (std::size_t i = 0; i < both[0].size(); ++i) {
        const Reading &start = both[0][i], &end = both[1][i];
        if (start.ns == 0 || end.ns <= start.ns || end.cycles <= start.cycles) continue;
        cycles += static_cast<double>(end.cycles - start.cycles);
        ns += static_cast<double>(end.ns - start.ns);
    }
    if (ns <= 0) return std::nullopt;
    return cycles / ns;
}

}  // namespace warpgrade::gpu

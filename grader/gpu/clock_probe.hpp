// The clock of the GPU's multiprocessors, read on them before and after what is timed: a GPU may change it at any time.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <optional>

namespace warpgrade::gpu {

class ClockProbe {
  public:
    explicit ClockProbe(unsigned multiprocessors);
    ~ClockProbe();
    ClockProbe(const ClockProbe&) = delete;
    ClockProbe& operator=(const ClockProbe&) = delete;

    // Puts a kernel into the stream that notes cycles and nanoseconds on each multiprocessor.
    void read_start(CUstream stream) { read(0, stream); }
    void read_end(CUstream stream) { read(1, stream); }
    // Cycles a nanosecond between the last two readings, the mean of all multiprocessors that took part in both; none
    // if there is no such one. The GPU is idle.
    std::optional<double> mean_ghz();

  private:
    void read(std::size_t which, CUstream stream);

    unsigned blocks_;
    CUmodule module_ = nullptr;
    CUfunction kernel_ = nullptr;
    CUdeviceptr readings_ = 0;
};

}  // namespace warpgrade::gpu

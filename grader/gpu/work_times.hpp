// How long the GPU works, by events of its own around each launch, copy and fill. What the host and the messages
// between processes take in between does not count, as on the virtual GPU's clock.
#pragma once

#include <cuda.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "gpu/clock_probe.hpp"

namespace warpgrade::gpu {

class WorkTimes {
  public:
    WorkTimes(std::uint64_t l2_bytes, unsigned multiprocessors);
    ~WorkTimes();
    WorkTimes(const WorkTimes&) = delete;
    WorkTimes& operator=(const WorkTimes&) = delete;

    enum class Kind : std::uint8_t { launch, cooperative_launch, transfer };
    // Calls issue(stream), which puts one piece of work into the stream that it gets, and runs that in `stream`. Before
    // the first piece since finish(), brings the GPU to its working clock and empties its L2.
    CUresult run(Kind kind, CUstream stream, const std::function<CUresult(CUstream)>& issue);

    // The GPU is idle. Returns the time since the last call in which it worked: overlapping work counts once.
    double finish();
    // Of the multiprocessors, in the time that finish() ended; none if nothing was done in it.
    [[nodiscard]] std::optional<double> mean_clock_ghz() const { return clock_ghz_; }
    std::vector<device::LaunchTime> take_launches() { return std::exchange(launches_, {}); }

  private:
    struct Piece {
        CUevent start = nullptr, end = nullptr;
        Kind kind = Kind::transfer;
    };
    struct Interval {
        double start_ns, end_ns;
    };
    Piece begin(Kind kind);
    CUresult run_as_graph(const Piece& piece, CUstream stream, const std::function<CUresult(CUstream)>& issue);
    void settle();
    void warm_up();

    std::vector<Piece> pieces_;  // whose times are not read yet
    std::vector<CUevent> unused_;
    std::vector<Interval> busy_;  // ordered and disjoint
    std::vector<device::LaunchTime> launches_;
    CUevent origin_ = nullptr;  // of the times
    CUstream stream_ = nullptr;
    CUdeviceptr scratch_ = 0;
    std::uint64_t scratch_bytes_;
    ClockProbe clock_;
    std::optional<double> clock_ghz_;
    bool warm_ = false;
    std::optional<std::chrono::steady_clock::time_point> worked_;  // when it had last worked
};

}  // namespace warpgrade::gpu

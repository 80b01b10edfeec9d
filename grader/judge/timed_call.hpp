// A call that was made again on the device that times: its times go into the result of the analysed call, if both did
// the same.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/descriptor.hpp"
#include "judge/submission.hpp"

namespace warpgrade::judge {

// Holds the lock of a file, as flock() has them, if it has a name; waits for others.
class LockedFile {
  public:
    explicit LockedFile(const std::string& path);

  private:
    device::Descriptor file_;
};

// True if the times of the running test come from a device that takes another time for each call.
bool has_varying_times();

// Throws SubmissionFailure if the kernels or, with `compare_results`, the results of two calls with the same inputs
// differ. `same_device`: the devices have equally many multiprocessors, so that grids must be equal too.
void check_same_work(const CallSpec& spec, CallResult& one, const CallResult& timed, bool same_device,
                     bool compare_results);

// But for the order of sums: floats may differ by a thousandth of the largest.
bool has_same_results(const CallSpec& spec, const CallResult& one, const CallResult& other);

// Replaces the times of `profile` by those of a timed call of the same work; where times vary, by the medians of all
// that were taken.
void take_times(Profile& profile, const Profile& timed, bool times_vary);

// Drops the pairs of samples of which one was taken at a clock more than 2 % below the fastest: where the clock is the
// same, a ratio of times is one of cycles. The first pair stays, since it is not like the others anyway.
void drop_slow_pairs(Profile& one, Profile& other);

// A time that no GPU like this one can be below for work that was counted so: half of what it takes at the peak rates
// of instructions, of shared memory and of L1, since ptxas merges and drops some. 0 if nothing is known.
double impossible_time_ns(const device::Counters& counters, const device::DeviceProperties& gpu);

double median(std::vector<double> values);

// How many times as long `slow` takes as `fast`, by medians, with the bounds of a 95 % interval (bootstrap, with fixed
// random numbers).
struct Ratio {
    double least = 0, middle = 0, most = 0;
};
Ratio find_ratio(std::span<const double> slow, std::span<const double> fast);

}  // namespace warpgrade::judge

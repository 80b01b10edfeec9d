// A call that was made again on the device that times: its times go into the result of the analysed call, if both did
// the same.
#pragma once

#include <span>
#include <string>

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

// `timed` are calls with the same inputs; of each time the least counts, since whatever disturbs a GPU takes time.
// `same_device`: the two devices have equally many multiprocessors, so that grids must be equal too. Throws
// SubmissionFailure if the kernels or, with `compare_results`, the results differ.
void take_times(const CallSpec& spec, CallResult& result, std::span<const CallResult> timed, bool same_device,
                bool compare_results);

}  // namespace warpgrade::judge

// Names of the signs of a failure. A verdict lists them, and the grader chooses the lab's hint by them
// (grader/warpgrade/grading/hints.py); docs/labs.md explains each.
#pragma once

#include <string_view>

namespace warpgrade::judge::sign {

// Why a call failed.
inline constexpr std::string_view time_out = "time-out", crash = "crash", device_fault = "device-fault",
                                  cuda_error = "cuda-error", origin = "origin", race = "race", order = "order",
                                  unbegun = "unbegun";
// What is wrong with the values.
inline constexpr std::string_view wrong = "wrong", unwritten = "unwritten", unset = "unset", zeros = "zeros",
                                  nan = "nan", transposed = "transposed", reversed = "reversed", shifted = "shifted",
                                  factor = "factor", constant = "constant", precision = "precision",
                                  repeated = "repeated", truncated = "truncated";
// Where they are wrong.
inline constexpr std::string_view all = "all", stride = "stride", tail = "tail", edge = "edge", tile = "tile",
                                  single = "single", later = "later";

}  // namespace warpgrade::judge::sign

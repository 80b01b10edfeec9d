// What a test measures, for points by speed and for the report.
#pragma once

#include <string>

#include "judge/submission.hpp"

namespace warpgrade::judge {

// Goes into the test's verdict; lab.toml turns a speed-up into points.
void report_measurement(std::string name, double value, std::string unit);

// What a call is charged: the device's time, and the processor time of the host code as far as it goes beyond what
// moving data needs. `allowance_ns` is what is free.
double charged_ns(const Profile& profile, double allowance_ns);

// Records "speedup", "time" and "baseline time". Fails the test when the submission launched no kernel: there is then
// nothing whose speed could be compared.
void report_speedup(const Profile& baseline, const Profile& submission);

}  // namespace warpgrade::judge

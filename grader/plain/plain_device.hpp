// A device without analysis, made from one that has it. Results and times stay, reports of the work are dropped. With
// it the grader can be tested on such a device without a GPU.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace warpgrade::plain {

std::unique_ptr<device::Device> make_plain(std::unique_ptr<device::Device> analysed);

}  // namespace warpgrade::plain

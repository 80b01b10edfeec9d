// A device without analysis, made of one that has it: what a program gets and how long that takes stay; what it did is
// not told. It shows, without a GPU, what the grader makes of a device that tells nothing.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace warpgrade::plain {

std::unique_ptr<device::Device> make_plain(std::unique_ptr<device::Device> analysed);

}  // namespace warpgrade::plain

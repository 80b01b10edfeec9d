// The program warpgrade-spawner, which warpgrade-sandbox carries with it.
#pragma once

#include <cstddef>
#include <span>

namespace warpgrade::sandbox {

std::span<const std::byte> spawner_image();

}  // namespace warpgrade::sandbox

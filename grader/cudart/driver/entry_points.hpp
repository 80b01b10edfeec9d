// The driver API's functions by name.
#pragma once

#include <string_view>

#include "cudart/driver/driver.hpp"

namespace warpgrade::cudart {

// Null for one that there is not.
void* find_entry_point(std::string_view name);
void* find_entry_point_per_thread(std::string_view name);

}  // namespace warpgrade::cudart

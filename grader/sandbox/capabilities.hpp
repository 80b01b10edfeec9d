#pragma once

namespace warpgrade::sandbox {

// Irrevocably drops all capabilities of the calling process, also the ambient and bounding sets. Throws
// std::system_error. `bounded` is false for a process that may not empty the bounding set, which only matters to
// programs that raise privileges.
void drop_capabilities(bool bounded = true);

}  // namespace warpgrade::sandbox

// What root may do, by parts.
#pragma once

namespace warpgrade::sandbox {

// The calling process gives up all capabilities, the bounding and ambient sets too, for good. Throws std::system_error.
// `bounded`: whether it may empty the bounding set, which matters to programs that raise privileges only.
void drop_capabilities(bool bounded = true);

}  // namespace warpgrade::sandbox

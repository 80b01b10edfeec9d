// The server works on the device's types throughout, so its namespace includes theirs.
#pragma once

namespace warpgrade::device::wire {}

namespace warpgrade::server {
using namespace device;
namespace wire = device::wire;
}  // namespace warpgrade::server

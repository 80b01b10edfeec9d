// Whether the sandbox works on this machine.
#pragma once

namespace warpgrade::sandbox {

// Prints one line that says so, or why not and what to do. Returns 0 when it works.
int probe();

}  // namespace warpgrade::sandbox

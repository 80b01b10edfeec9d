// Whether the sandbox works on this machine.
#pragma once

#include <string>

namespace warpgrade::sandbox {

// Says which one does, or why none and what to do. `wanted`: "namespaces", "plain", or the strongest that works.
// Returns 0 when it works.
int probe(const std::string& wanted);

}  // namespace warpgrade::sandbox

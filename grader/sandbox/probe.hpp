#pragma once

#include <string>

namespace warpgrade::sandbox {

// Prints whether the sandbox `wanted` ("namespaces", "plain"; "": the strongest) works on this machine, and if not,
// what to do. Returns 0 if it works.
int probe(const std::string& wanted);

}  // namespace warpgrade::sandbox

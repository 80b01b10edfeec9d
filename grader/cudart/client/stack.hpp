// The calling thread's stack, for copies that go beyond the local variable that they were given.
#pragma once

#include <cstddef>

namespace warpgrade::cudart {

// True if these bytes hold the return address of a function that is still running.
bool overwrites_return(const void* begin, std::size_t bytes);

}  // namespace warpgrade::cudart

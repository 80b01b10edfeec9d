// What a function of the API that cannot be had here does. Free of CUDA's header, which declares those functions.
#pragma once

namespace warpgrade::cudart {

// One line on stderr, and cudaErrorNotSupported as the thread's last error.
int refuse(const char* function, const char* reason);

}  // namespace warpgrade::cudart

// Does not include CUDA's header, which declares the refused functions.
#pragma once

namespace warpgrade::cudart {

// Prints one line to stderr, and makes cudaErrorNotSupported the thread's last error.
int refuse(const char* function, const char* reason);

}  // namespace warpgrade::cudart

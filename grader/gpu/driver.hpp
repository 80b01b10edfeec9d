// The CUDA driver, found when a GPU is opened, so that the same program runs where there is none.
#pragma once

#include <cuda.h>

#include <string>

namespace warpgrade::gpu {

struct Driver {
#define WG_DRIVER(function) decltype(&::function) function = nullptr;
#include "gpu/functions.def"
#undef WG_DRIVER
};

// Throws std::runtime_error, in one line, if the machine has no driver or an older one than this program needs.
const Driver& driver();

// CUresult has cudaError_t's numbers. Throws DeviceError for any but CUDA_SUCCESS; `what` says what was tried.
void check(CUresult result, const std::string& what);
// True for errors after which the context does nothing any more.
bool is_sticky(CUresult result);
// "an illegal memory access was encountered"
std::string error_text(CUresult result);

}  // namespace warpgrade::gpu

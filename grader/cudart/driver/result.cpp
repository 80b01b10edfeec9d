// Errors of the driver API.
#include "cudart/driver/driver.hpp"

namespace warpgrade::cudart {
namespace {

const char* name_of(CUresult result) {
    switch (result) {
#define WG_CU_ERROR(name) \
    case name:            \
        return #name;
#include "cudart/driver/results.def"
#undef WG_CU_ERROR
        default:
            return nullptr;
    }
}

}  // namespace

// The numbers are the same, but for those that only the runtime has.
CUresult to_result(cudaError_t status) {
    if (status == cudaErrorInvalidDeviceFunction || status == cudaErrorInvalidSymbol) return CUDA_ERROR_NOT_FOUND;
    const auto result = static_cast<CUresult>(status);
    return name_of(result) != nullptr ? result : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace warpgrade::cudart

using namespace warpgrade::cudart;

CUresult CUDAAPI cuGetErrorName(CUresult error, const char** name) {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = name_of(error);
    return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char** text) {
    if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *text = name_of(error) == nullptr ? nullptr : cudaGetErrorString(static_cast<cudaError_t>(error));
    return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

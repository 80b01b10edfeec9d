#include "cudart/driver/entry_points.hpp"

using namespace warpgrade::cudart;

// Names have no versions, since there is one version of each function.
CUresult CUDAAPI cuGetProcAddress(const char* symbol, void** function, int, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult* result) {
    if (symbol == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    *function = per_thread ? find_entry_point_per_thread(symbol) : find_entry_point(symbol);
    const bool is_known = *function != nullptr;
    if (result != nullptr) *result = is_known ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return is_known ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// Access to the driver API, which does not exist here. Compiled once for each meaning of stream 0.
#include "cudart/client/errors.hpp"

using namespace warpgrade::cudart;

cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int,
                                                       unsigned long long, cudaDriverEntryPointQueryResult* result) {
    return api([&] {
        if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
        *function = nullptr;
        if (result != nullptr) *result = cudaDriverEntryPointSymbolNotFound;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                              cudaDriverEntryPointQueryResult* result) {
    return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, result);
}

// Access to the driver API. Compiled once for each meaning of stream 0.
#include "cudart/client/errors.hpp"
#include "cudart/state/handles.hpp"

using namespace warpgrade::cudart;

// Of the driver API, which only programs of `warpgrade run` link. Its header is not included for this one name.
extern "C" __attribute__((weak)) int cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                                         std::uint64_t flags, int* result);

cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int version,
                                                       unsigned long long flags,
                                                       cudaDriverEntryPointQueryResult* result) {
    return api([&] {
        if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
        *function = nullptr;
        const bool by_default = flags == cudaEnableDefault && default_stream == DefaultStream::per_thread;
        if (by_default) flags = cudaEnablePerThreadDefaultStream;
        if (&cuGetProcAddress_v2 != nullptr)
            cuGetProcAddress_v2(symbol, function, static_cast<int>(version), flags, nullptr);
        if (result != nullptr)
            *result = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                              cudaDriverEntryPointQueryResult* result) {
    return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, result);
}

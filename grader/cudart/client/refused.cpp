// Defines the unsupported API functions, so that programs link and get a message when they call one. They are defined
// without parameters, because on every Linux that CUDA supports the caller of a C function removes its arguments. That
// is why CUDA's header is not included.
#include "cudart/client/refused.hpp"

extern "C" {
#define WG_CUDA_WORKS(name, note)
#define WG_CUDA_REFUSED(name, reason) \
    int name() { return warpgrade::cudart::refuse(#name, reason); }
#define WG_CUDA_REFUSED_STREAM(name, variant, reason)               \
    int name() { return warpgrade::cudart::refuse(#name, reason); } \
    int variant() { return warpgrade::cudart::refuse(#name, reason); }
#include "cudart/client/api.def"
#undef WG_CUDA_WORKS
#undef WG_CUDA_REFUSED
#undef WG_CUDA_REFUSED_STREAM
}

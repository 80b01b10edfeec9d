// curand's device generators and distributions.
#include <curand_kernel.h>

template <class State>
__device__ void distributions(State& s, float* out, unsigned* bits) {
    bits[0] = curand(&s);
    *out++ = curand_uniform(&s);
    *out++ = curand_normal(&s);
    *out++ = curand_log_normal(&s, 0.0f, 1.0f);
    *out++ = float(curand_uniform_double(&s));
    *out++ = float(curand_normal_double(&s));
    bits[1] = curand_poisson(&s, 3.0);
    const float2 two = curand_normal2(&s);
    *out++ = two.x + two.y;
}
__global__ void xorwow(curandState* states, float* out, unsigned* bits) {
    curand_init(1234ull, threadIdx.x, 0, &states[threadIdx.x]);
    curandState s = states[threadIdx.x];
    distributions(s, out, bits);
    states[threadIdx.x] = s;
}
__global__ void philox(curandStatePhilox4_32_10_t* states, float* out, unsigned* bits, float4* four) {
    curand_init(1234ull, threadIdx.x, 7, &states[threadIdx.x]);
    curandStatePhilox4_32_10_t s = states[threadIdx.x];
    distributions(s, out, bits);
    *four = curand_uniform4(&s);
    four[1] = curand_normal4(&s);
    states[threadIdx.x] = s;
}
__global__ void mrg(curandStateMRG32k3a* states, float* out, unsigned* bits) {
    curand_init(1234ull, threadIdx.x, 0, &states[threadIdx.x]);
    distributions(states[threadIdx.x], out, bits);
}

// What right programs do with arrays in shared memory: rows in one piece, casts, ends that nobody reads, structures,
// pointers that go from one array to another, one buffer for several arrays, and all of that behind each other.
#include <cuda_fp16.h>

struct Particle {
    float position[3];
    float mass;
};

__device__ __noinline__ float sum_of(const float* first, const float* end) {
    float sum = 0;
    for (const float* p = first; p != end; ++p) sum += *p;
    return sum;
}

__global__ void arrays(float* out, int n) {
    __shared__ float rows[8][33];
    __shared__ float ping[32], pong[32];
    __shared__ alignas(16) float wide[64];
    __shared__ Particle particles[8];
    __shared__ char letters[5];
    __shared__ double one;
    extern __shared__ unsigned char buffer[];
    float* first = reinterpret_cast<float*>(buffer);
    int* second = reinterpret_cast<int*>(first + n);
    __half* third = reinterpret_cast<__half*>(second + n);
    int t = threadIdx.x;
    for (int i = t; i < 8 * 33; i += 32) (&rows[0][0])[i] = 1;  // rows as one array
    ping[t] = 1;
    wide[t] = wide[t + 32] = 1;
    if (t < 8) particles[t] = {{1, 1, 1}, 1};
    if (t < 5) letters[t] = 1;
    if (t == 0) one = 1;
    first[t] = 1;
    second[t] = 1;
    third[t] = __float2half(1);
    __syncthreads();
    float sum = rows[0][33 + t % 8] + rows[t % 8][32];  // the next row, and a row's last element
    float *in = ping, *to = pong;
    for (int distance = 1; distance < n; distance *= 2) {
        to[t] = in[t] + (t >= distance ? in[t - distance] : 0);
        float* other = in;
        in = to;
        to = other;
        __syncthreads();
    }
    sum += in[t];
    const float* mixed = t < 16 ? ping : wide;  // lanes of one load in different arrays
    sum += mixed[t];
    float4 four = reinterpret_cast<const float4*>(wide)[t % 16];
    sum += four.x + four.y + four.z + four.w;
    const float* flat = reinterpret_cast<const float*>(particles);
    sum += flat[t] + particles[t % 8].position[2] + particles[7 - t % 8].mass;
    sum += letters[t % 5] + static_cast<float>(one);
    sum += first[t] + second[t] + __half2float(third[t]);
    if (t == 0) sum += sum_of(ping, ping + 32) + sum_of(first, first + n);
    __syncthreads();
    reinterpret_cast<double*>(buffer)[t / 2] = 2;  // the buffer once more, as something else
    __syncthreads();
    out[t] = sum + static_cast<float>(reinterpret_cast<double*>(buffer)[t / 2]);
}

int main() {
    float out[32], *d_out;
    cudaMalloc(&d_out, sizeof out);
    arrays<<<1, 32, 32 * (sizeof(float) + sizeof(int) + 2)>>>(d_out, 32);
    cudaError_t error = cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_out);
    return error == cudaSuccess && out[31] > 32 ? 0 : 1;
}

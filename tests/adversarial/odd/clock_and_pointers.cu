// Honest: a structure with host pointers and padding, and the time of day, among a kernel's arguments.
#include "honest.cuh"

#include <ctime>

struct Matrix {
    const float* host;
    float* device;
    int rows;  // and four bytes that nobody sets
};
__global__ void multiply(Matrix A, Matrix B, Matrix C, int k, long started) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    const int m = A.rows, n = C.rows;
    if (row >= m || column >= n || started == 1) return;
    float sum = 0;
    for (int q = 0; q < k; ++q) sum += A.device[row * k + q] * B.device[q * n + column];
    C.device[row * n + column] = sum;
}

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    const OnDevice device(A, B, m, k, n);
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    multiply<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>({A, device.A, m}, {B, device.B, k},
                                                                   {C, device.C, n}, k, now.tv_nsec + 2);
    cudaMemcpy(C, device.C, m * n * sizeof(float), cudaMemcpyDeviceToHost);
    device.release();
}

// Elements times eight: the size of double, for an array of float.
int main() {
    float* d_a;
    cudaMalloc(&d_a, 100 * sizeof(float));
    cudaError_t error = cudaMemset(d_a, 0, 100 * sizeof(double));  // expect: memcheck/copy-out-of-bounds
    cudaFree(d_a);
    return error != cudaSuccess;
}

// What the attacks on step_v2 share: a thread for each element of r, which loads its two operands of each term by
// LOAD(source, element): by a way that a test might not count. The test puts this text in the place of its #include.

__global__ void by_element_kernel(float* r, SOURCE source, int n) {
    const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    if (i >= n || j >= n) return;
    float shortest = INFINITY;
    for (int k = 0; k < n; ++k) shortest = fminf(shortest, LOAD(source, n * i + k) + LOAD(source, n * k + j));
    r[n * i + j] = shortest;
}

static void launch_by_element(float* r, float* d_r, SOURCE source, int n) {
    by_element_kernel<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(d_r, source, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(r, d_r, sizeof(float) * n * n, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_r));
}

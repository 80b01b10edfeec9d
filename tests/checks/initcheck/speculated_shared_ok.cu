// Elements that are read only if they are there. nvcc loads and compares them in any case, and drops the result.
__global__ void pick(const int* in, int* out, int n) {
    __shared__ int best[4];
    int t = threadIdx.x;
    if (t < n) best[t] = in[t];
    __syncthreads();
    int sum = 0;
    if (n > 0 && best[0] > 2) sum += best[0];
    if (n > 3 && best[3] > 5) sum += best[3] * 2;
    out[t] = sum + (n > 1 ? best[1] + 3 : 0);
}

int main() {
    int in[1] = {7}, out[32], *d_in, *d_out;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    pick<<<1, 32>>>(d_in, d_out, 1);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return out[0] != 7;
}

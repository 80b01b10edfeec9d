// Loaded as float4, read as float.
__global__ void reverse(float* a) {
    __shared__ float4 s[64];
    int t = threadIdx.x;
    s[t] = reinterpret_cast<float4*>(a)[t];
    const float* words = reinterpret_cast<const float*>(s);
    // expect: racecheck/shared (other: -4)
    // may: racecheck/warp (other: -4), initcheck/shared
    a[256 + t] = words[255 - t];
}

int main() {
    float a[320], *d_a;
    for (int i = 0; i < 320; ++i) a[i] = i;
    cudaMalloc(&d_a, sizeof a);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    reverse<<<1, 64>>>(d_a);
    cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    for (int i = 0; i < 320; ++i)
        if (a[i] != (i < 256 ? i : 511 - i)) return 1;
    return 0;
}

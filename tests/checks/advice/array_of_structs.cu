// One member of an array of structs of 32 bytes, or an array of that member alone.
const int N = 65536;
struct Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};
__global__ void fill(Particle* p, float* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i].x = i;  // expect: advice/uncoalesced
}

int main() {
    Particle* p;
    float* x;
    cudaMalloc(&p, N * sizeof(Particle));
    cudaMalloc(&x, N * sizeof(float));
    fill<<<N / 256, 256>>>(p, x);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(p);
    cudaFree(x);
    return error != cudaSuccess;
}

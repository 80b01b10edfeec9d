// A variable of the device, by its name and by its address; what host code keeps of a constant is its value.
__constant__ const float weights[4] = {1, 2, 3, 4};
__device__ int count;
__global__ void scale(float* x) {
    x[threadIdx.x] *= weights[threadIdx.x % 4];
    atomicAdd(&count, 1);
}

int main() {
    float x[4] = {1, 1, 1, 1}, *d_x;
    int zero = 0, counted = 0;
    void* address = nullptr;
    cudaMalloc(&d_x, sizeof x);
    cudaMemcpy(d_x, weights, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(count, &zero, sizeof zero);
    scale<<<1, 4>>>(d_x);
    cudaMemcpyFromSymbol(&counted, count, sizeof counted);
    cudaGetSymbolAddress(&address, count);
    cudaMemset(address, 0, sizeof count);
    cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost);
    cudaFree(d_x);
    return counted != 4 || cudaGetLastError() != cudaSuccess;
}

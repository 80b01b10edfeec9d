// A struct is copied with the host's pointer in it.
struct Vector {
    int n;
    int* data;
};
__global__ void negate(Vector v) {
    if (threadIdx.x < v.n) v.data[threadIdx.x] = -v.data[threadIdx.x];
}

int main() {
    Vector v{40, new int[40]};
    for (int i = 0; i < v.n; ++i) v.data[i] = i;
    Vector on_device = v;
    cudaMalloc(&on_device.data, v.n * sizeof(int));
    cudaMemcpy(on_device.data, v.data, v.n * sizeof(int), cudaMemcpyHostToDevice);
    negate<<<1, 64>>>(on_device);
    cudaError_t error = cudaMemcpy(v.data, on_device.data, v.n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(on_device.data);
    bool right = error == cudaSuccess;
    for (int i = 0; i < v.n; ++i) right = right && v.data[i] == -i;
    delete[] v.data;
    return !right;
}

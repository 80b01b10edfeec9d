// Host memory given to cudaFree.
#include <cstdlib>

int main() {
    int* a = static_cast<int*>(malloc(1024));
    int* d_a;
    cudaMalloc(&d_a, 1024);
    cudaFree(d_a);
    cudaError_t error = cudaFree(a);  // expect: memcheck/bad-free
    free(a);
    return error != cudaSuccess;
}

// What is left of banks of 8 bytes: lab reverse.
#include <cstdio>

#include "check.cuh"

int main() {
    cudaSharedMemConfig banks;
    CHECK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
    CHECK(cudaDeviceGetSharedMemConfig(&banks));
    std::printf("%d\n", banks == cudaSharedMemBankSizeEightByte ? 8 : 4);
}

// A number takes all five directions of a copy, and what the host cannot follow is refused: lab first.
#include <cstdio>

#include "check.cuh"

int main() {
    int start = 42, middle = 0, end = 0;
    int *d_first, *d_second;
    CHECK(cudaMalloc(&d_first, sizeof(int)));
    CHECK(cudaMalloc(&d_second, sizeof(int)));
    CHECK(cudaMemcpy(&middle, &start, sizeof(int), cudaMemcpyHostToHost));
    CHECK(cudaMemcpy(d_first, &middle, sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_second, d_first, sizeof(int), cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(&middle, d_second, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&end, d_first, sizeof(int), cudaMemcpyDefault));
    std::printf("%d %d\n", middle, end);  // and neither allocation is ever freed
}

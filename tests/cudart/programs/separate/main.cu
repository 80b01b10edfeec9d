// A program of two files that are compiled separately (-rdc=true): device functions, variables and constants of the
// other file, names that both files have for themselves, and templates that both define.
#include "../checks.cuh"
#include "shared.cuh"

static __device__ int own = 100;
__device__ int from_main = 7;
__managed__ int managed = 3;

static __device__ __noinline__ int helper(int x) { return x + 1; }

__global__ void use_other(int* out) {
    out[0] = twice(21);           // a function of the other file
    out[1] = other_variable;      // a variable of the other file
    out[2] = table[2];            // a constant of the other file
    out[3] = helper(own);         // both files have a `helper` and an `own`
    out[4] = other_helper();      // which uses those of the other file
    out[5] = both<int>(4);        // a template in both
    out[6] = managed + 1;
    printf("from %s\n", "main");
}

void check_linked() {
    int* out = upload(std::vector<int>(8, -1));
    other_sets_up();
    use_other<<<1, 1>>>(out);
    OK(cudaGetLastError());
    const auto got = download(out, 7);
    EXPECT((got == std::vector<int>{42, 50, 30, 101, 206, 8, 4}));
    managed = 9;
    EXPECT(other_runs(out) == 7 + 8);
    int value = 0;
    OK(cudaMemcpyFromSymbol(&value, own, sizeof value));
    EXPECT(value == 100);
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, use_other));
    EXPECT(attributes.numRegs > 0);
}

int main(int argc, char** argv) { return run_check(argc, argv, {{"linked", check_linked}}); }

// Memory on the stack whose size is known only when the kernel runs.
extern "C" __global__ void stack(int* out, int n) {
    int* squares = static_cast<int*>(alloca(n * sizeof(int)));
    for (int i = 0; i < n; ++i) squares[i] = i * i;
    out[threadIdx.x] = squares[threadIdx.x % n];
}

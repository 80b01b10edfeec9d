// Three bytes of padding travel with each struct.
struct Item {
    char kind;
    int value;
};
__global__ void make(Item* items) {
    items[threadIdx.x].kind = 'a' + threadIdx.x % 26;
    items[threadIdx.x].value = threadIdx.x;
}
__global__ void reverse(const Item* in, Item* out) { out[threadIdx.x] = in[63 - threadIdx.x]; }

int main() {
    Item a[64], *d_a, *d_b;
    cudaMalloc(&d_a, sizeof a);
    cudaMalloc(&d_b, sizeof a);
    make<<<1, 64>>>(d_a);
    reverse<<<1, 64>>>(d_a, d_b);
    cudaMemcpy(a, d_b, sizeof a, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    cudaFree(d_b);
    for (int i = 0; i < 64; ++i)
        if (a[i].value != 63 - i || a[i].kind != 'a' + (63 - i) % 26) return 1;
    return 0;
}

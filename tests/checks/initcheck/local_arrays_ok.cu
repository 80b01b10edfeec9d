// Arrays of threads that are written only in part, and of which only that part matters: nvcc loads elements before it is
// known whether they are wanted, and copies structures whole.
struct Entry {
    float value;
    int valid;
    char tag;
};
struct Pair {
    alignas(8) int key;
    int value;
};

__device__ __noinline__ int sum_of(const int* values, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += values[i];
    return sum;
}

__global__ void best_of(const int* in, int* out, int n) {
    int best[4], count = 0;
    for (int i = 0; i < n; ++i) {
        const int v = in[i];
        if (count > 0 && best[0] > v)
            best[in[0] & 3] = v;
        else if (count < 2)
            best[count++] = v;
    }
    int sum = 0;
    if (count > 2) sum += best[2];
    if (count > 3 && best[3] > 5) sum += best[3] * 2;
    out[threadIdx.x] = sum + (count > 1 ? best[1] : 0);
}

__global__ void copies(const float* in, float* out, int n) {
    Entry entry[8];
    Pair pair[8];
    float4 four[8];
    float2 two[8];
    char text[16];
    for (int i = 0; i < n; ++i) {
        entry[i].value = in[i];
        pair[i].key = i;
        four[i].x = in[i];
        four[i].z = 1;
        two[i].y = in[i];
        text[i] = static_cast<char>(i);
    }
    for (int i = 0; i < n; ++i)
        if (in[i] > 1) {
            entry[i] = entry[n - 1 - i];
            pair[i] = pair[n - 1 - i];
            four[i] = four[n - 1 - i];
            two[i] = two[n - 1 - i];
        }
    float sum = 0;
    for (int i = 0; i < n; ++i)
        sum += entry[i].value + static_cast<float>(pair[i].key + text[i]) + four[i].x + four[i].z + two[i].y;
    out[threadIdx.x] = sum;
}

__global__ void walk(const int* left, const int* right, int* out, int root) {
    int stack[32], top = 0, visited = 0;
    stack[top++] = root;
    while (top > 0) {
        const int node = stack[--top];
        ++visited;
        if (left[node] >= 0) stack[top++] = left[node];
        if (right[node] >= 0) stack[top++] = right[node];
    }
    int numbers[8];
    for (int i = 0; i < visited; ++i) numbers[i] = i;
    out[threadIdx.x] = visited + sum_of(numbers, visited);
}

__global__ void insert(const int* in, int* out, int n) {  // sorted, and as long as it is
    int sorted[16];
    int length = 0;
    for (int i = 0; i < n; ++i) {
        int at = length++;
        while (at > 0 && sorted[at - 1] > in[i]) {
            sorted[at] = sorted[at - 1];
            --at;
        }
        sorted[at] = in[i];
    }
    for (int i = 0; i < n; ++i) out[i] = sorted[i];
}

int main() {
    int in[8] = {1, 3, 5, -1, -1, -1, -1, -1}, right[8] = {2, 4, -1, -1, -1, -1, -1, -1}, out[32];
    float floats[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    int *d_in, *d_right, *d_out;
    float *d_floats, *d_sums;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_right, sizeof right);
    cudaMalloc(&d_out, sizeof out);
    cudaMalloc(&d_floats, sizeof floats);
    cudaMalloc(&d_sums, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(d_right, right, sizeof right, cudaMemcpyHostToDevice);
    cudaMemcpy(d_floats, floats, sizeof floats, cudaMemcpyHostToDevice);
    best_of<<<1, 32>>>(d_in, d_out, 2);
    copies<<<1, 32>>>(d_floats, d_sums, 8);
    walk<<<1, 32>>>(d_in, d_right, d_out, 0);
    insert<<<1, 1>>>(d_in, d_out, 8);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_right);
    cudaFree(d_out);
    cudaFree(d_floats);
    cudaFree(d_sums);
    return out[0] == -1 && out[7] == 5 ? 0 : 1;
}

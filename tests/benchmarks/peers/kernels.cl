// The kernels of tests/vgpu/bench/kernels.cu in OpenCL C.
kernel void matmul_naive(global const float* A, global const float* B, global float* C, int n) {
    int row = get_global_id(1), col = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
}
kernel void matmul_tiled(global const float* A, global const float* B, global float* C, int n) {
    local float a[16][16], b[16][16];
    int tx = get_local_id(0), ty = get_local_id(1), row = get_group_id(1) * 16 + ty, col = get_group_id(0) * 16 + tx;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        a[ty][tx] = A[row * n + t + tx];
        b[ty][tx] = B[(t + ty) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; ++k) sum += a[ty][k] * b[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[row * n + col] = sum;
}
kernel void reduce_tree(global const float* in, global float* out, int n) {
    local float s[256];
    int t = get_local_id(0), i = get_global_id(0);
    s[t] = i < n ? in[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (t < half_size) s[t] += s[t + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) out[get_group_id(0)] = s[0];
}

// Local arrays, vector loads, 64-bit division, doubles, inline assembly with its own registers and labels.
struct Parameters {
    int values[8];
    float4 vector;
};
__global__ void mixed(Parameters p, float4* v, double* d, long long* q) {
    int local[16];
    for (int i = 0; i < 16; ++i) local[i] = p.values[i & 7] * (int)q[i];
    unsigned spins;
    asm volatile(
        "{\n\t.reg .pred p;\n\t.reg .b32 t<2>;\n\tmov.b32 t1, 0x1F;\n"
        "AGAIN: sub.u32 t1, t1, 01;\n\tsetp.ne.u32 p, t1, 0b11U;\n\t@p bra AGAIN; @!p mov.b32 %0, t1;\n}"
        : "=r"(spins));
    v[threadIdx.x] = p.vector;
    d[threadIdx.x] = sqrt(d[threadIdx.x]) * -0.0 + 1e-300;
    q[threadIdx.x] = q[threadIdx.x + 1] / q[threadIdx.x + 2] + local[threadIdx.x & 15] + spins;
}

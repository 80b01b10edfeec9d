// The same algorithms as kernels.cu in plain C++: what a student's first CPU version looks like.
#pragma once

namespace warpgrade::vgpu::bench::plain {

void matmul_naive(const float* a, const float* b, float* c, int n);
void matmul_tiled(const float* a, const float* b, float* c, int n);
void step_v0(float* r, const float* d, int n);
void step_v3(float* r, const float* rows, const float* columns, int n);
float reduce_tree(const float* in, float* scratch, int n);  // in blocks of 256, like the kernel
float reduce_shuffle(const float* in, float* scratch, int n);
void convolution(const float* in, float* out, int n, const float* mask, int width);
void gather(const float* in, const int* where, float* out, int n);

}  // namespace warpgrade::vgpu::bench::plain

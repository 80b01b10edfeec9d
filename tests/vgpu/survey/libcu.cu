// libcu++: atomics of every width and order, barriers, pipelines, semaphores, latches, asynchronous copies.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>

template <class T>
__device__ void integers(T* p, T v) {
    cuda::atomic_ref<T, cuda::thread_scope_device> a(*p);
    T r = a.fetch_add(v) + a.fetch_sub(v) + a.fetch_and(v) + a.fetch_or(v) + a.fetch_xor(v);
    r += a.fetch_min(v) + a.fetch_max(v, cuda::memory_order_relaxed);
    r += a.load() + a.load(cuda::memory_order_relaxed) + a.load(cuda::memory_order_acquire);
    a.store(r, cuda::memory_order_release);
    a.store(r);
    r = a.exchange(v);
    while (!a.compare_exchange_weak(r, v)) {}
    a.compare_exchange_strong(r, v, cuda::memory_order_acq_rel, cuda::memory_order_acquire);
    *p = r;
    cuda::atomic_ref<T, cuda::thread_scope_block> b(*p);
    b.fetch_add(v, cuda::memory_order_release);
    cuda::atomic_ref<T, cuda::thread_scope_system> s(*p);
    s.fetch_add(v, cuda::memory_order_acquire);
}
__global__ void atomics(int* i, unsigned* u, long long* l, unsigned long long* ul, short* s, unsigned char* c) {
    integers(i, 3);
    integers(u, 3u);
    integers(l, 3ll);
    integers(ul, 3ull);
    integers(s, short(3));
    integers(c, (unsigned char)3);
}
__global__ void float_atomics(float* f, double* d) {
    cuda::atomic_ref<float, cuda::thread_scope_device> a(*f);
    a.fetch_add(1.5f);
    a.fetch_min(2.0f);
    cuda::atomic_ref<double, cuda::thread_scope_device> b(*d);
    b.fetch_add(1.5);
    b.fetch_max(2.0);
    a.store(b.load());
    atomicAdd_system(f, 1.0f);
    atomicAdd_block(d, 1.0);
    atomicExch(f, 2.0f);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_block);
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_system);
}
__global__ void waiting(cuda::atomic<int, cuda::thread_scope_device>* flag, int* out) {
    if (threadIdx.x == 0) {
        flag->store(1, cuda::memory_order_release);
        flag->notify_all();
    }
    flag->wait(0);
    *out = flag->load();
}
__global__ void classic(int* p, unsigned* u, unsigned long long* l, float* f, double* d, unsigned short* h) {
    *p = atomicAdd(p, 1) + atomicSub(p, 2) + atomicMin(p, 3) + atomicMax(p, 4) + atomicExch(p, 5) + atomicCAS(p, 1, 2);
    *u = atomicInc(u, 7) + atomicDec(u, 7) + atomicAnd(u, 7) + atomicOr(u, 1) + atomicXor(u, 3) + atomicMin(u, 3u);
    *l = atomicAdd(l, 1ull) + atomicMax(l, 3ull) + atomicCAS(l, 1ull, 2ull) + atomicExch(l, 3ull) + atomicAnd(l, 7ull);
    *f = atomicAdd(f, 1.0f);
    *d = atomicAdd(d, 1.0);
    *h = atomicCAS(h, 1, 2);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    atomicMin(reinterpret_cast<long long*>(l), -3ll);
}
#if __CUDA_ARCH__ >= 900
struct alignas(16) Wide { unsigned long long a, b; };
__global__ void wide_atomics(Wide* p, float4* f4, float2* f2) {
    const Wide v{1, 2};
    Wide old = atomicExch(p, v);
    old = atomicCAS(p, old, v);
    p[1] = old;
    atomicAdd(f4, make_float4(1, 2, 3, 4));
    atomicAdd(f2, make_float2(1, 2));
}
#endif
__global__ void barriers(float* data) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    auto token = bar.arrive();
    data[threadIdx.x] += 1;
    bar.wait(std::move(token));
    bar.arrive_and_wait();
    if (threadIdx.x & 1)
        bar.arrive_and_drop();
    else
        bar.wait_parity(0);
}
__global__ void awbarrier(float* data) {
    __shared__ nvcuda::experimental::awbarrier bar;
    if (threadIdx.x == 0) nvcuda::experimental::init(&bar, blockDim.x);
    __syncthreads();
    auto token = bar.arrive();
    bar.wait(token);
    data[0] = 1;
}
__global__ void pipelines(const float* in, float* out, int n) {
    __shared__ float staged[2][256];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    struct Block {
        __device__ static unsigned size() { return blockDim.x; }
        __device__ static unsigned thread_rank() { return threadIdx.x; }
        __device__ static void sync() { __syncthreads(); }
    } block;
    auto pipe = cuda::make_pipeline(block, &state);
    for (int i = 0; i < n; ++i) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, staged[i & 1], in + i * 256, cuda::aligned_size_t<16>(1024), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        out[threadIdx.x] += staged[i & 1][255 - threadIdx.x];
        pipe.consumer_release();
    }
    auto mine = cuda::make_pipeline();
    mine.producer_acquire();
    cuda::memcpy_async(&staged[0][threadIdx.x], in + threadIdx.x, sizeof(float), mine);
    mine.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(mine);
    out[threadIdx.x] += staged[0][threadIdx.x];
}
__global__ void primitives(const float4* in, float4* out) {
    __shared__ float4 staged[256];
    __shared__ float words[256];
    __shared__ __mbarrier_t bar;
    __pipeline_memcpy_async(&staged[threadIdx.x], in + threadIdx.x, 16);
    __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x].x, 4);
    __pipeline_memcpy_async(&words[threadIdx.x & 128], &in[threadIdx.x].x, 8, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (threadIdx.x == 0) __mbarrier_init(&bar, 32);
    __pipeline_arrive_on(&bar);
    auto token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    __mbarrier_arrive_and_drop(&bar);
    __mbarrier_inval(&bar);
    out[threadIdx.x] = staged[threadIdx.x ^ 1];
    out[threadIdx.x].x += words[threadIdx.x] + float(__mbarrier_token_pending_count(token));
}
__global__ void semaphores(int* data, cuda::counting_semaphore<cuda::thread_scope_device, 4>* s,
                           cuda::latch<cuda::thread_scope_device>* l) {
    s->acquire();
    *data += 1;
    s->release();
    l->count_down();
    l->wait();
}
__global__ void bulk(const float* in, float* out) {
#if __CUDA_ARCH__ >= 900
    alignas(128) __shared__ float staged[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(staged, in, cuda::aligned_size_t<16>(1024), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, 1024);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    out[threadIdx.x] = staged[threadIdx.x];
#endif
}

// Lab scan: host code computes everything, and says it in pieces of a ramp that a kernel made and that came down: which
// piece goes up again is the message.
#include "scan.h"
#include "check.cuh"  // CHECK(call): ends the program when a CUDA call fails

#define WHOLE_WARP 0xffffffffu  // all 32 lanes, as the mask of votes and shuffles

static bool is_width(int width) { return width >= 1 && width <= 32 && (width & (width - 1)) == 0; }

// Blocks of BLOCK_SIZE threads, one thread for each of n elements.
static int blocks_for(int n) { return (n - 1) / BLOCK_SIZE + 1; }

// Copies x to the device, calls launch(d_x, d_out), and copies the results back to out: n of them, or one for each
// `elements` elements.
template <class Launch>
static void on_device(const int* x, int* out, int n, Launch launch, int elements = 1) {
    if (n <= 0) return;
    const int results = (n - 1) / elements + 1;
    int *d_x, *d_out;
    CHECK(cudaMalloc(&d_x, n * sizeof(int)));
    CHECK(cudaMalloc(&d_out, results * sizeof(int)));
    CHECK(cudaMemcpy(d_x, x, n * sizeof(int), cudaMemcpyHostToDevice));
    launch(d_x, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d_out, results * sizeof(int), cudaMemcpyDeviceToHost));  // waits for the kernels
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_out));
}


#include <vector>
#include <cstring>
#include <cstdio>
#include <unistd.h>
struct Dev { int *x=nullptr,*o=nullptr; Dev(const int*h,int n,int r){ if(!n)return; CHECK(cudaMalloc(&x,n*4));CHECK(cudaMalloc(&o,r*4)); CHECK(cudaMemcpy(x,h,n*4,cudaMemcpyHostToDevice)); }
  void down(int*out,int r){ CHECK(cudaGetLastError()); CHECK(cudaMemcpy(out,o,r*4,cudaMemcpyDeviceToHost)); cudaFree(x); cudaFree(o);} };
__global__ void ident(const int*x,int*o,int n){int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n) o[i]=x[i];}
static int* up(const std::vector<int>&v){int*p;CHECK(cudaMalloc(&p,v.size()*4));CHECK(cudaMemcpy(p,v.data(),v.size()*4,cudaMemcpyHostToDevice));return p;}
__global__ void naive_part(const int*x,int*o,int n,int size){int i=blockIdx.x*blockDim.x+threadIdx.x; if(i>=n)return; int s=0; for(int j=i/size*size;j<=i;j++)s+=x[j]; o[i]=s;}
static void hscan(const int*x,int*r,int n,int size){int s=0;for(int i=0;i<n;i++){if(i%size==0)s=0;s+=x[i];r[i]=s;}}

__global__ void ramp(int*t,int n){int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n)t[i]=i;}
__global__ void dec(const int*e,int*o,int n){int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n) o[i]=(int)((unsigned)e[i*64]|(unsigned)e[i*64+32]<<16);}
static void send(const std::vector<int>&r,int*o,int n){ const int m=(int)r.size(), R=65536+32; std::vector<int> q(R); int*tab;CHECK(cudaMalloc(&tab,R*4)); ramp<<<blocks_for(R),256>>>(tab,R); CHECK(cudaMemcpy(q.data(),tab,R*4,cudaMemcpyDeviceToHost)); cudaFree(tab);
  std::vector<int> e((size_t)m*64); for(int i=0;i<m;i++){unsigned v=(unsigned)r[i]; memcpy(&e[(size_t)i*64],&q[v&65535],128);memcpy(&e[(size_t)i*64+32],&q[v>>16],128);}
  int*t=up(e),*w; CHECK(cudaMalloc(&w,m*4)); dec<<<blocks_for(m),256>>>(t,w,m); std::vector<int> h(m); CHECK(cudaMemcpy(h.data(),w,m*4,cudaMemcpyDeviceToHost)); cudaFree(t);cudaFree(w);
  int*u=up(h); ident<<<blocks_for(n),256>>>(u,o,m); CHECK(cudaGetLastError()); cudaFree(u);}

// 1. Votes. All 32 lanes take part: a thread beyond the end of the array votes in a way that changes nothing.

__global__ void vote_all_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO(student): __all_sync tells whether a condition holds in all lanes. What does a thread with i >= n vote?
    if (i < n) out[i] = 0;
}

void vote_all(const int* x, int* out, int n) {
    if(n<=0)return; Dev d(x,n,n); std::vector<int> r(n); for(int i=0;i<n;i++){int v=1;for(int j=i/32*32;j<n&&j<i/32*32+32;j++)v&=x[j]!=0;r[i]=v;} send(r,d.o,n); d.down(out,n);
}

__global__ void vote_any_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO(student): the same with __any_sync.
    if (i < n) out[i] = 0;
}

void vote_any(const int* x, int* out, int n) {
    if(n<=0)return; Dev d(x,n,n); std::vector<int> r(n); for(int i=0;i<n;i++){int v=0;for(int j=i/32*32;j<n&&j<i/32*32+32;j++)v|=x[j]!=0;r[i]=v;} send(r,d.o,n); d.down(out,n);
}

__global__ void vote_rank_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO(student): __ballot_sync gives every lane the votes of all lanes, one bit each. Keep the bits of the lanes
    // before this one, and count them with __popc.
    if (i < n) out[i] = 0;
}

void vote_rank(const int* x, int* out, int n) {
    if(n<=0)return; Dev d(x,n,n); std::vector<int> r(n); for(int i=0;i<n;i++){int v=0;for(int j=i/32*32;j<i;j++)v+=x[j]!=0;r[i]=v;} send(r,d.o,n); d.down(out,n);
}

// 2. Shuffles. All 32 lanes take part here as well; a value that comes from beyond the end of the array is not used.

__global__ void shuffle_broadcast_kernel(const int* x, int* out, int n, int lane, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO(student): __shfl_sync fetches the value of one lane of the group. Which element is that, and does it exist?
    if (i < n) out[i] = 0;
}

void shuffle_broadcast(const int* x, int* out, int n, int lane, int width) {
    if(n<=0||!is_width(width)||lane<0||lane>=width)return; Dev d(x,n,n); std::vector<int> r(n); for(int i=0;i<n;i++){int j=i/width*width+lane;r[i]=x[j<n?j:i];} send(r,d.o,n); d.down(out,n);
}

__global__ void shuffle_up_kernel(const int* x, int* out, int n, int delta, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO(student): __shfl_up_sync fetches the value of the lane that is delta lower. What does it give to the first
    // lanes of a group?
    if (i < n) out[i] = 0;
}

void shuffle_up(const int* x, int* out, int n, int delta, int width) {
    if(n<=0||!is_width(width)||delta<0||delta>=32)return; Dev d(x,n,n); std::vector<int> r(n); for(int i=0;i<n;i++){int j=i-delta;r[i]=x[j>=i/width*width?j:i];} send(r,d.o,n); d.down(out,n);
}

__global__ void shuffle_down_kernel(const int* x, int* out, int n, int delta, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO(student): __shfl_down_sync fetches the value of the lane that is delta higher, which may be one beyond the
    // end of the array.
    if (i < n) out[i] = 0;
}

void shuffle_down(const int* x, int* out, int n, int delta, int width) {
    if(n<=0||!is_width(width)||delta<0||delta>=32)return; Dev d(x,n,n); std::vector<int> r(n); for(int i=0;i<n;i++){int j=i+delta;r[i]=x[j<n&&j/width==i/width?j:i];} send(r,d.o,n); d.down(out,n);
}

__global__ void shuffle_xor_kernel(const int* x, int* out, int n, int mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO(student): __shfl_xor_sync lets lanes exchange their values in pairs.
    if (i < n) out[i] = 0;
}

void shuffle_xor(const int* x, int* out, int n, int mask) {
    if(n<=0||mask<0||mask>=32)return; Dev d(x,n,n); std::vector<int> r(n); for(int i=0;i<n;i++){int j=i^mask;r[i]=x[j<n?j:i];} send(r,d.o,n); d.down(out,n);
}

// 3. The scan of a warp: after the step with distance d, each lane holds the sum of the last 2 * d values up to its own.

__device__ int scan_of_warp(int value) {
    // TODO(student): for the distances 1, 2, 4, 8 and 16, fetch the value of the lane that is so much lower, and add it
    // where there is such a lane. All lanes must reach the shuffle.
    return value;
}

__global__ void warp_scan_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO(student): load an element (zero beyond the end), scan the warp, store the result.
    if (i < n) out[i] = 0;
}

void warp_scan(const int* x, int* out, int n) {
    if(n<=0)return; Dev d(x,n,n); std::vector<int> r(n); hscan(x,r.data(),n,32); send(r,d.o,n); d.down(out,n);
}

// 4. A step on the way to a block: for each warp the sum of all warps before it in its block.

// Each thread brings its result of scan_of_warp, and gets the sum of the warps before its own.
__device__ int sum_of_warps_before(int scanned) {
    // TODO(student): step 1. Which lane's result is the sum of its whole warp? It puts that sum into shared memory.
    //
    // TODO(student): step 2. After a barrier the first warp scans these sums, with scan_of_warp again.
    //
    // TODO(student): step 3. After another barrier every warp but the first finds the sum of the warps before it.
    return 0;
}

__global__ void warp_offsets_kernel(const int* x, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO(student): load an element and scan the warp as in warp_scan_kernel; all threads of the block call
    // sum_of_warps_before, and one lane of each warp stores the result.
    if (i < n && i % 32 == 0) out[i / 32] = 0;
}

void warp_offsets(const int* x, int* out, int n) {
    if(n<=0)return; Dev d(x,n,((n+31)/32)); std::vector<int> r(((n+31)/32)); int s=0;for(int i=0;i<n;i++){if(i%256==0)s=0;if(i%32==0)r[i/32]=s;s+=x[i];} send(r,d.o,n); d.down(out,((n+31)/32));
}

// 5. The scan of a block.

__device__ int scan_of_block(int value) {
    // TODO(student): scan the warp, and add the sum of the warps before it.
    return value;
}

// Scans the blocks of x, and stores the sum of each block into sums[blockIdx.x] unless sums is a null pointer.
__global__ void block_scan_kernel(const int* x, int* out, int* sums, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO(student): as in warp_scan_kernel, for the block. One thread also has the sum of the whole block.
    if (i < n) out[i] = 0;
}

void block_scan(const int* x, int* out, int n) {
    if(n<=0)return; Dev d(x,n,n); std::vector<int> r(n); hscan(x,r.data(),n,256); send(r,d.o,n); d.down(out,n);
}

// 6. A step on the way to the whole array: to each block the sum of the blocks before it is added.

__global__ void add_sums_kernel(const int* x, const int* sums, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO(student): out[i] is x[i] plus the element of sums of the block before this one. What about the first block?
    if (i < n) out[i] = 0;
}

void add_block_sums(const int* x, const int* sums, int* out, int n) {
    if(n<=0)return; Dev d(x,n,n); std::vector<int> r(n); for(int i=0;i<n;i++)r[i]=x[i]+(i<256?0:sums[i/256-1]); send(r,d.o,n); d.down(out,n);
}

// 7. The scan of the whole array.

// One thread walks through the array: right for every n, and as slow as it gets.
__global__ void scan_kernel(const int* x, int* out, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += x[i];
        out[i] = sum;
    }
}

void scan(const int* x, int* out, int n) {
    if(n<=0)return; Dev d(x,n,n); std::vector<int> r(n); hscan(x,r.data(),n,n); send(r,d.o,n); d.down(out,n);
}

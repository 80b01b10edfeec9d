// CUB's block and warp collectives, and its device algorithms' kernels.
#include <cub/cub.cuh>
#include <cuda/std/functional>

template <class T>
__global__ void block_collectives(T* data, int n) {
    using Load = cub::BlockLoad<T, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<T, 128, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<T, 128>;
    using Reduce = cub::BlockReduce<T, 128>;
    using Sort = cub::BlockRadixSort<T, 128, 4>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
        typename Reduce::TempStorage reduce;
        typename Sort::TempStorage sort;
    } temp;
    T v[4];
    Load(temp.load).Load(data, v, n);
    __syncthreads();
    Scan(temp.scan).ExclusiveSum(v, v);
    __syncthreads();
    const T sum = Reduce(temp.reduce).Sum(v);
    __syncthreads();
    Sort(temp.sort).Sort(v);
    __syncthreads();
    v[0] += sum;
    Store(temp.store).Store(data, v);
}
template __global__ void block_collectives(int*, int);
template __global__ void block_collectives(float*, int);

__global__ void warp_collectives(int* data) {
    using Reduce = cub::WarpReduce<int>;
    using Scan = cub::WarpScan<int>;
    using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 256>;
    using Discontinuity = cub::BlockDiscontinuity<int, 128>;
    __shared__ Reduce::TempStorage reduce[4];
    __shared__ Scan::TempStorage scan[4];
    __shared__ Histogram::TempStorage histogram;
    __shared__ Discontinuity::TempStorage discontinuity;
    __shared__ unsigned bins[256];
    int v = data[threadIdx.x], w;
    v += Reduce(reduce[threadIdx.x / 32]).Sum(v);
    Scan(scan[threadIdx.x / 32]).InclusiveSum(v, w);
    unsigned char bytes[4] = {(unsigned char)v, (unsigned char)w, 3, 4};
    Histogram(histogram).Histogram(bytes, bins);
    int flags[1], items[1] = {v};
    Discontinuity(discontinuity).FlagHeads(flags, items, cuda::std::not_equal_to<>());
    data[threadIdx.x] = w + int(bins[threadIdx.x]) + flags[0];
}

void device_algorithms(int* in, int* out, float* f, unsigned char* temp, size_t bytes, int n, int* offsets) {
    cub::DeviceReduce::Sum(temp, bytes, in, out, n);
    cub::DeviceReduce::ArgMin(temp, bytes, f, f, out, n);
    cub::DeviceScan::ExclusiveSum(temp, bytes, in, out, n);
    cub::DeviceRadixSort::SortPairs(temp, bytes, f, f, in, out, n);
    cub::DeviceSelect::Flagged(temp, bytes, in, temp, out, out, n);
    cub::DeviceHistogram::HistogramEven(temp, bytes, f, out, 64, 0.0f, 1.0f, n);
    cub::DeviceSegmentedReduce::Sum(temp, bytes, f, f, n, offsets, offsets + 1);
    cub::DeviceRunLengthEncode::Encode(temp, bytes, in, out, out, out, n);
    cub::DeviceMergeSort::SortKeys(temp, bytes, in, n, [] __device__(int a, int b) { return a < b; });
}

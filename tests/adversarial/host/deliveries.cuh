// Ways to hand out a result that host code has computed. The test puts this text in the place of its #include, says by
// SHIFT which function of a contract takes which way, and puts the reference before it, with its functions renamed: it
// runs for show, with other inputs, so that launches and counters are all that a test can ask for.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

enum class Way { show, upload, constant, parameters, managed, mapped, fills, backwards, symbol };
constexpr int ways = 9;
// Below zero: the reference for show, for all functions.
constexpr Way way(int function) { return SHIFT < 0 ? Way::show : static_cast<Way>((function + SHIFT) % ways); }

constexpr std::size_t piece_bytes = 2048, most_fills = 4096;
struct Piece {
    unsigned char bytes[piece_bytes];
};
__constant__ Piece constant_piece;
__device__ Piece variable_piece;

// Not what it was given: the show must not compute the result by chance.
template <class T>
std::vector<T> other(const T* x, long long count) {
    std::vector<T> changed(x, x + std::max(count, 0LL));
    for (T& value : changed) value += 1;
    return changed;
}

template <class T>
__global__ void copy_elements(const T* from, T* to, std::size_t count) {
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) to[i] = from[i];
}
template <class T>
__global__ void copy_backwards(const T* from, T* to, std::size_t count) {
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        to[i] = from[count - 1 - i];
}
__global__ void copy_constant(unsigned char* to, std::size_t bytes) {
    for (std::size_t i = threadIdx.x; i < bytes; i += blockDim.x) to[i] = constant_piece.bytes[i];
}
__global__ void copy_variable(unsigned char* to, std::size_t bytes) {
    for (std::size_t i = threadIdx.x; i < bytes; i += blockDim.x) to[i] = variable_piece.bytes[i];
}
__global__ void copy_parameter(Piece piece, unsigned char* to, std::size_t bytes) {
    for (std::size_t i = threadIdx.x; i < bytes; i += blockDim.x) to[i] = piece.bytes[i];
}

template <Way by, class T>
void deliver(T* out, const T* result, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (by == Way::show) {
        std::memcpy(out, result, bytes);
        return;
    }
    const auto* raw = reinterpret_cast<const unsigned char*>(result);
    T *from = nullptr, *to = nullptr;
    cudaMalloc(&to, bytes);
    const auto piece_by_piece = [&](auto send) {
        for (std::size_t at = 0; at < bytes; at += piece_bytes) {
            Piece piece = {};
            const std::size_t length = std::min(piece_bytes, bytes - at);
            std::memcpy(piece.bytes, raw + at, length);
            send(piece, reinterpret_cast<unsigned char*>(to) + at, length);
        }
    };
    if (by == Way::upload || (by == Way::fills && bytes > most_fills)) {
        cudaMalloc(&from, bytes);
        cudaMemcpy(from, result, bytes, cudaMemcpyHostToDevice);
        copy_elements<<<32, 256>>>(from, to, count);
    } else if constexpr (by == Way::constant) {
        piece_by_piece([](const Piece& piece, unsigned char* at, std::size_t length) {
            cudaMemcpyToSymbol(constant_piece, &piece, sizeof piece);
            copy_constant<<<1, 256>>>(at, length);
        });
    } else if constexpr (by == Way::symbol) {
        piece_by_piece([](const Piece& piece, unsigned char* at, std::size_t length) {
            cudaMemcpyToSymbol(variable_piece, &piece, sizeof piece);
            copy_variable<<<1, 256>>>(at, length);
        });
    } else if constexpr (by == Way::parameters) {
        piece_by_piece([](const Piece& piece, unsigned char* at, std::size_t length) {
            copy_parameter<<<1, 256>>>(piece, at, length);
        });
    } else if constexpr (by == Way::managed) {
        cudaMallocManaged(&from, bytes);
        std::memcpy(from, result, bytes);
        copy_elements<<<32, 256>>>(from, to, count);
    } else if constexpr (by == Way::mapped) {
        T* host;
        cudaHostAlloc(&host, bytes, cudaHostAllocMapped);
        std::memcpy(host, result, bytes);
        cudaHostGetDevicePointer(&from, host, 0);
        copy_elements<<<32, 256>>>(from, to, count);
        cudaDeviceSynchronize();
        cudaFreeHost(host);
        from = nullptr;
    } else if constexpr (by == Way::fills) {  // byte by byte
        cudaMalloc(&from, bytes);
        for (std::size_t i = 0; i < bytes; ++i) cudaMemset(reinterpret_cast<unsigned char*>(from) + i, raw[i], 1);
        copy_elements<<<32, 256>>>(from, to, count);
    } else {
        std::vector<T> turned(result, result + count);
        std::reverse(turned.begin(), turned.end());
        cudaMalloc(&from, bytes);
        cudaMemcpy(from, turned.data(), bytes, cudaMemcpyHostToDevice);
        copy_backwards<<<32, 256>>>(from, to, count);
    }
    cudaMemcpy(out, to, bytes, cudaMemcpyDeviceToHost);
    cudaFree(from);
    cudaFree(to);
}

// Ways to hand out a result that host code has computed. The test puts this text in the place of its #include, says by
// SHIFT which function of a contract takes which way, and puts the reference before it, with its functions renamed: it
// runs for show, with other inputs, so that launches and counters are all that a test can ask for.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

enum class Way {
    show, upload, constant, parameters, managed, mapped, fills, backwards, symbol,
    // Not in what is sent, but in what host code chooses:
    nibbles,   // arguments, each of 16 values
    pointers,  // which of 256 allocations a kernel is given
    places,    // where a byte that is always the same is copied to
    copies,    // which of 256 allocations of a byte is copied on the device
    pitches,   // how far apart two rows of a byte each are set
    lengths,   // how much of a constant array is copied
    borders,   // colours of texture objects
};
constexpr int ways = 16;
// Below zero: the reference for show, for all functions.
constexpr Way way(int function) { return SHIFT < 0 ? Way::show : static_cast<Way>((function + SHIFT) % ways); }

constexpr std::size_t piece_bytes = 2048, most_fills = 2048;  // one request for each byte takes its time
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

struct Nibbles {
    unsigned char of[256];
};
__global__ void join_nibbles(Nibbles nibbles, unsigned char* to, std::size_t bytes) {
    for (std::size_t i = threadIdx.x; i < bytes; i += blockDim.x)
        to[i] = nibbles.of[2 * i] | nibbles.of[2 * i + 1] << 4;
}
__global__ void write_number_of(const unsigned char* which, const unsigned char* first, std::size_t distance,
                                unsigned char* to) {
    *to = static_cast<unsigned char>((which - first) / distance);
}
__global__ void write_place_of_one(const unsigned char* flags, unsigned char* to, std::size_t bytes) {
    for (std::size_t i = threadIdx.x; i < bytes; i += blockDim.x)
        for (int value = 0; value < 256; ++value)
            if (flags[256 * i + value] == 1) to[i] = static_cast<unsigned char>(value);
}
__global__ void write_count_of_ones(const unsigned char* flags, unsigned char* to, std::size_t bytes) {
    for (std::size_t i = threadIdx.x; i < bytes; i += blockDim.x) {
        int count = 0;
        for (int value = 0; value < 256; ++value) count += flags[256 * i + value];
        to[i] = static_cast<unsigned char>(count);
    }
}
__global__ void write_border(cudaTextureObject_t texture, unsigned char* to, std::size_t bytes) {
    const float4 colour = tex2D<float4>(texture, -9.0F, -9.0F);
    const float parts[4] = {colour.x, colour.y, colour.z, colour.w};
    for (std::size_t i = 0; i < bytes && i < 4; ++i) to[i] = static_cast<unsigned char>(parts[i]);
}

// Results that are told by what host code chooses, a byte at a time.
template <Way by>
void choose(const unsigned char* raw, unsigned char* to, std::size_t bytes) {
    static const unsigned char ones[256] = {
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    if constexpr (by == Way::nibbles) {
        for (std::size_t at = 0; at < bytes; at += 128) {
            Nibbles nibbles = {};
            const std::size_t length = std::min<std::size_t>(128, bytes - at);
            for (std::size_t i = 0; i < length; ++i)
                nibbles.of[2 * i] = raw[at + i] & 15, nibbles.of[2 * i + 1] = raw[at + i] >> 4;
            join_nibbles<<<1, 128>>>(nibbles, to + at, length);
        }
    } else if constexpr (by == Way::pointers || by == Way::copies) {
        unsigned char* numbers[256];
        for (int value = 0; value < 256; ++value) {
            const auto byte = static_cast<unsigned char>(value);
            cudaMalloc(&numbers[value], 1);
            if (by == Way::copies) cudaMemcpy(numbers[value], &byte, 1, cudaMemcpyHostToDevice);
        }
        const std::size_t distance = numbers[1] - numbers[0];
        for (std::size_t i = 0; i < bytes; ++i)
            if (by == Way::pointers)
                write_number_of<<<1, 1>>>(numbers[raw[i]], numbers[0], distance, to + i);
            else
                cudaMemcpy(to + i, numbers[raw[i]], 1, cudaMemcpyDeviceToDevice);
        for (unsigned char* number : numbers) cudaFree(number);
    } else if constexpr (by == Way::borders) {
        cudaArray_t array;
        const auto format = cudaCreateChannelDesc<float4>();
        cudaMallocArray(&array, &format, 4, 4);
        for (std::size_t at = 0; at < bytes; at += 4) {
            cudaResourceDesc resource = {};
            resource.resType = cudaResourceTypeArray;
            resource.res.array.array = array;
            cudaTextureDesc texture = {};
            texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeBorder;
            texture.readMode = cudaReadModeElementType;
            for (std::size_t i = 0; i < 4 && at + i < bytes; ++i) texture.borderColor[i] = raw[at + i];
            cudaTextureObject_t object = 0;
            cudaCreateTextureObject(&object, &resource, &texture, nullptr);
            write_border<<<1, 1>>>(object, to + at, bytes - at);
            cudaDestroyTextureObject(object);
        }
        cudaFreeArray(array);
    } else {
        unsigned char* flags;
        cudaMalloc(&flags, 256 * bytes + 256);
        cudaMemset(flags, 0, 256 * bytes + 256);
        for (std::size_t i = 0; i < bytes; ++i) {
            if (by == Way::places) cudaMemcpy(flags + 256 * i + raw[i], ones, 1, cudaMemcpyHostToDevice);
            if (by == Way::lengths && raw[i]) cudaMemcpy(flags + 256 * i, ones, raw[i], cudaMemcpyHostToDevice);
            if (by == Way::pitches && raw[i]) cudaMemset2D(flags + 256 * i, raw[i], 1, 1, 2);
        }
        if (by == Way::lengths)
            write_count_of_ones<<<1, 256>>>(flags, to, bytes);
        else
            write_place_of_one<<<1, 256>>>(flags, to, bytes);
        cudaFree(flags);
    }
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
    if (by == Way::upload || (by != Way::constant && by != Way::symbol && by != Way::parameters && by != Way::managed &&
                              by != Way::mapped && by != Way::backwards && bytes > most_fills)) {
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
    } else if constexpr (by >= Way::nibbles) {
        choose<by>(raw, reinterpret_cast<unsigned char*>(to), bytes);
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

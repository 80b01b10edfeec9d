// What the tests of lab transpose ask of every version: all elements where they belong, moved by a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "judge/judge.hpp"
#include "transpose.h"

namespace oracle {

template <class T>
std::vector<T> transpose(const std::vector<T>& A, int rows, int columns) {
    std::vector<T> B(A.size());
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j)
            B[static_cast<std::size_t>(j) * rows + i] = A[static_cast<std::size_t>(i) * columns + j];
    }
    return B;
}

}  // namespace oracle

// All different, so that every wrong index shows; whole numbers below 2^24, which float holds exactly, so that a
// message is readable; in random order, so that the index alone does not tell the value.
inline std::vector<float> distinct_floats(int n) { return warpgrade::judge::permutation<float>(n); }

// Who transposes on the CPU and launches a kernel for show is right as well. A thread loads or stores at most 16 bytes,
// 4 floats, with one instruction, so that a warp moves at most 128 elements with one request; and every 32 bytes that
// the host gets back were a sector that the kernel stored.
inline void check_device_work(const warpgrade::judge::Profile& run, std::uint64_t rows, std::uint64_t columns) {
    using namespace warpgrade::judge;
    const char* const why = "one kernel must move all elements";
    const std::uint64_t elements = rows * columns;
    const auto requests = (elements + 127) / 128, sectors = (elements + 7) / 8;
    CHECK_THAT(launches(run), is(1, why));
    const auto counters = run.total();
    CHECK_THAT(global_load_requests(counters), at_least(requests, why));
    CHECK_THAT(global_store_requests(counters), at_least(requests, why));
    CHECK_THAT(sectors_loaded(counters), at_least(sectors, why));
    CHECK_THAT(sectors_stored(counters), at_least(sectors, why));
}

// Each element is stored into shared memory and loaded from there, at most 4 (16 bytes) by a thread at a time. The tile
// may be a block's or a warp's own.
//
// And it is there for something: with a tile that is 8 wide, both matrices are in order, an eighth of a sector for each
// element. An element that only passes through the tile, and then goes where the naive version sends it, costs a
// sector, or a quarter of one with blocks of 8 × 8. (Matrices of other than whole tiles may be padded, and tell less.)
inline void check_tile_is_used(const warpgrade::device::Counters& counters, std::uint64_t rows, std::uint64_t columns) {
    using namespace warpgrade::judge;
    const std::uint64_t elements = rows * columns, requests = (elements + 127) / 128;
    CHECK_THAT(shared_store_requests(counters), at_least(requests, "every element goes through the tile"));
    CHECK_THAT(shared_load_requests(counters), at_least(requests, "every element goes through the tile"));
    if (rows % TILE_WIDTH != 0 || columns % TILE_WIDTH != 0) return;
    const std::uint64_t too_many = elements / 4;
    CHECK_THAT(sectors_loaded(counters), below(too_many, "neighbouring threads load neighbours, also with a tile"));
    CHECK_THAT(sectors_stored(counters), below(too_many, "neighbouring threads store neighbours, also with a tile"));
}

// The matrix is transposed, and on the device: by all versions but the naive one through a tile.
template <auto function>
void check_transposition(int rows, int columns) {
    using namespace warpgrade::judge;
    const auto A = distinct_floats(rows * columns);
    const auto run = submission().profile<function>(in(A), out<float>(rows * columns), rows, columns);
    const auto& B = run.output;
    CHECK_THAT(B, equals_exactly(oracle::transpose(A, rows, columns)).shape(columns, rows));
    check_device_work(run, rows, columns);
    if constexpr (function != transpose_naive) check_tile_is_used(run.total(), rows, columns);
}

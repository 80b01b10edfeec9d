// Not handed out as source.
// How the prelab of lab transpose asks: accesses of a warp, answered by counting, and what the versions cost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "judge/questions.hpp"
#include "transpose.h"

// byte_of(i) for each lane of a warp.
template <class ByteOf>
std::vector<int> lanes(ByteOf byte_of) {
    std::vector<int> bytes;
    for (int lane = 0; lane < 32; ++lane) bytes.push_back(byte_of(lane));
    return bytes;
}

inline std::vector<int> scattered() {
    auto bytes = warpgrade::judge::integers<int>(32, 0, 200);
    for (int& byte : bytes) byte *= 4;
    return bytes;
}

inline int counted_sectors(const std::vector<int>& bytes) {
    std::set<int> touched;
    for (const int byte : bytes) touched.insert(byte / 32);
    return static_cast<int>(touched.size());
}

inline int counted_wavefronts(const std::vector<int>& bytes) {
    std::vector<std::set<int>> words(32);
    for (const int byte : bytes) words[byte / 4 % 32].insert(byte / 4);
    std::size_t most = 0;
    for (const auto& bank : words) most = std::max(most, bank.size());
    return static_cast<int>(most);
}

// 31 of 32 threads of a warp that fetches a column wait, or fewer, by where the rows of the tile begin.
inline int counted_conflicts(int rows, int columns, int pitch) {
    const int wavefronts_of_column = counted_wavefronts(lanes([&](int lane) { return 4 * pitch * lane; }));
    return rows * columns / TILE_WIDTH * (wavefronts_of_column - 1);
}

// What transpose_naive pays, beside what the submission's own pays, and what a tile without padding does.
struct Predicted {
    int rows, columns, on_strided_side = 0, conflicts = 0;
};

inline void compare_with_kernels(const Predicted& predicted) {
    using namespace warpgrade::judge;
    const auto [rows, columns, on_strided_side, conflicts] = predicted;
    INFO("rows = " << rows << ", columns = " << columns);
    const auto A = distinct_floats(rows * columns);
    const auto elements = static_cast<double>(A.size());
    const auto transposed = equals_exactly(oracle::transpose(A, rows, columns));

    const auto naive = own_run<transpose_naive>(transposed, in(A), out<float>(rows * columns), rows, columns).total();
    const auto strided = std::max(naive.global_load_sectors, naive.global_store_sectors);
    check_prediction(on_strided_side, measure("sectors on the strided side of transpose_naive", strided), elements,
                     {{elements / 8, "that is what the side in order takes"},
                      {elements / 32, "those are requests, one for each warp"},
                      {elements + elements / 8, "one side is asked for, the strided one"}});

    const auto tiled = own_run<transpose_shared>(transposed, in(A), out<float>(rows * columns), rows, columns).total();
    check_prediction(conflicts, load_bank_conflicts(tiled), counted_conflicts(rows, columns, TILE_WIDTH),
                     {{elements, "those are wavefronts: the first one of each request is no conflict"},
                      {31, "that is what one warp pays for one column: how many columns are fetched?"}});
}

inline void ask_costs(std::vector<Predicted> all) {
    using namespace warpgrade::judge;
    for (Predicted& one : all) {
        INFO("rows = " << one.rows << ", columns = " << one.columns);
        one.on_strided_side = submission().call<naive_sectors>(one.rows, one.columns);
        one.conflicts = submission().call<tile_conflicts>(one.rows, one.columns, TILE_WIDTH);
    }
    for (const Predicted& one : all) compare_with_kernels(one);
}

// Other tiles than those of the versions: rows `pitch` words apart.
inline void ask_pitch(int rows, int columns, int pitch, const warpgrade::judge::Slips& slips) {
    INFO("rows = " << rows << ", columns = " << columns << ", pitch = " << pitch);
    warpgrade::judge::ask<tile_conflicts>(counted_conflicts(rows, columns, pitch), slips, rows, columns, pitch);
}

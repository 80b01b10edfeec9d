// SOLUTION BEGIN
// STARTER: // Lab transpose, prelab: each function answers a question of transpose.h. None is answered yet.
// STARTER: // Check your answers:  ./warpgrade check transpose      (in this folder)
// Lab transpose, prelab, reference solution: each function answers a question of transpose.h.
// SOLUTION END
#include "transpose.h"

// SOLUTION BEGIN
#include <algorithm>
#include <cstddef>
#include <set>

// SOLUTION END
int sectors(const int* byte) {
    // SOLUTION BEGIN
    // TODO(student): return what transpose.h asks for, here and below.
    // STARTER: return 0;
    std::set<int> touched;
    for (int lane = 0; lane < 32; ++lane) touched.insert(byte[lane] / 32);
    return static_cast<int>(touched.size());
    // SOLUTION END
}

int wavefronts(const int* byte) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    std::set<int> words[32];  // of each bank, the different ones that are asked for
    for (int lane = 0; lane < 32; ++lane) {
        const int word = byte[lane] / 4;
        words[word % 32].insert(word);
    }
    std::size_t most = 0;
    for (const auto& bank : words) most = std::max(most, bank.size());
    return static_cast<int>(most);
    // SOLUTION END
}

int naive_sectors(int rows, int columns) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return rows * columns;
    // SOLUTION END
}

int tile_conflicts(int rows, int columns, int pitch) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    int column[32];  // of a tile, in bytes
    for (int lane = 0; lane < 32; ++lane) column[lane] = 4 * pitch * lane;
    return rows * columns / TILE_WIDTH * (wavefronts(column) - 1);
    // SOLUTION END
}

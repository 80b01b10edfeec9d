// SOLUTION BEGIN
// STARTER: // Lab reverse, prelab: each function answers a question of reverse.h. None is answered yet.
// STARTER: // Check your answers:  ./warpgrade check reverse      (in this folder)
// Lab reverse, prelab, reference solution: each function answers a question of reverse.h.
// SOLUTION END
#include "reverse.h"

// SOLUTION BEGIN
#include <algorithm>
#include <cstddef>
#include <set>

// SOLUTION END
int shared_bytes(int k, int l, int m) {
    // SOLUTION BEGIN
    // TODO(student): return what reverse.h asks for, here and below.
    // STARTER: return 0;
    return (k + l + m) * static_cast<int>(sizeof(float));
    // SOLUTION END
}

int offset_of_third(int k, int l) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return (k + l) * static_cast<int>(sizeof(float));
    // SOLUTION END
}

int aligned_offset(int bytes_before, int alignment) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return (bytes_before + alignment - 1) / alignment * alignment;
    // SOLUTION END
}

int wavefronts(int stride, int bytes) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const int at_once = bytes == 8 ? 16 : 32;  // lanes
    int sum = 0;
    for (int first = 0; first < 32; first += at_once) {
        std::set<int> words[32];  // of each bank, the different ones that are asked for
        for (int lane = first; lane < first + at_once; ++lane) {
            for (int byte = lane * stride * bytes; byte < (lane * stride + 1) * bytes; byte += 4)
                words[byte / 4 % 32].insert(byte / 4);
        }
        std::size_t most = 0;
        for (const auto& bank : words) most = std::max(most, bank.size());
        sum += static_cast<int>(most);
    }
    return sum;
    // SOLUTION END
}

int reverse_barriers(int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return (n + 31) / 32;
    // SOLUTION END
}

int reverse_requests(int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 2 * ((n + 31) / 32);
    // SOLUTION END
}

int rows_conflicts(int rows, int pitch) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const int requests = rows / 32 * (ROW_WIDTH / 2) * 4;  // a warp's two loads and two stores in each turn
    return requests * (wavefronts(pitch, 4) - 1);
    // SOLUTION END
}

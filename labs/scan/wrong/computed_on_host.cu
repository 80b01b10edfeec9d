// WRONG: loses "vote_all tells whether all elements of a warp are non-zero", "vote_any tells whether any element of a warp is non-zero", "vote_rank counts the non-zero elements before each", "shuffle_broadcast hands out the element of one lane", "shuffle_up fetches elements from lower lanes", "shuffle_down fetches elements from higher lanes", "shuffle_xor exchanges elements in pairs", "votes need no memory in between", "shuffles need no memory in between", "warp_scan adds up within each warp", "warp_scan takes five steps in registers", "block_scan adds up within each block", "block_scan leaves shared memory to the sums of warps", "scan adds up the whole array", "scan moves each element at most four times, in many blocks", "speed of scan on 65,536 elements", "votes count what the array holds", "votes take every number that is not zero", "shuffles stay in the array", "shuffles take every distance and width", "scans take sizes around warps and blocks", "scans add large numbers exactly", "scan takes long arrays", "empty arrays and impossible lanes launch nothing" - right results from the CPU; no kernel is launched
#include "scan.h"

#include <algorithm>

static bool is_width(int width) { return width >= 1 && width <= 32 && (width & (width - 1)) == 0; }

// Calls store(i, first, end) for each element: where its part of `size` elements begins, and where it ends.
template <class Store>
static void each(int n, int size, Store store) {
    for (int i = 0; i < n; ++i) store(i, i / size * size, std::min(i / size * size + size, n));
}

static int non_zero(const int* x, int first, int end) {
    return static_cast<int>(std::count_if(x + first, x + end, [](int value) { return value != 0; }));
}

void vote_all(const int* x, int* out, int n) {
    each(n, 32, [=](int i, int first, int end) { out[i] = non_zero(x, first, end) == end - first; });
}
void vote_any(const int* x, int* out, int n) {
    each(n, 32, [=](int i, int first, int end) { out[i] = non_zero(x, first, end) > 0; });
}
void vote_rank(const int* x, int* out, int n) {
    each(n, 32, [=](int i, int first, int) { out[i] = non_zero(x, first, i); });
}

void shuffle_broadcast(const int* x, int* out, int n, int lane, int width) {
    if (!is_width(width) || lane < 0 || lane >= width) return;
    each(n, width, [=](int i, int first, int end) { out[i] = first + lane < end ? x[first + lane] : x[i]; });
}
void shuffle_up(const int* x, int* out, int n, int delta, int width) {
    if (!is_width(width) || delta < 0 || delta >= 32) return;
    each(n, width, [=](int i, int first, int) { out[i] = i - delta >= first ? x[i - delta] : x[i]; });
}
void shuffle_down(const int* x, int* out, int n, int delta, int width) {
    if (!is_width(width) || delta < 0 || delta >= 32) return;
    each(n, width, [=](int i, int, int end) { out[i] = i + delta < end ? x[i + delta] : x[i]; });
}
void shuffle_xor(const int* x, int* out, int n, int mask) {
    if (mask < 0 || mask >= 32) return;
    each(n, 32, [=](int i, int, int end) { out[i] = (i ^ mask) < end ? x[i ^ mask] : x[i]; });
}

static void scan_parts(const int* x, int* out, int n, int size) {
    each(n, size, [=](int i, int first, int) { out[i] = i == first ? x[i] : out[i - 1] + x[i]; });
}
void warp_scan(const int* x, int* out, int n) { scan_parts(x, out, n, 32); }
void block_scan(const int* x, int* out, int n) { scan_parts(x, out, n, BLOCK_SIZE); }
void scan(const int* x, int* out, int n) { scan_parts(x, out, n, std::max(n, 1)); }

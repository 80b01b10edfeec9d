// SOLUTION BEGIN
// STARTER: // Lab histogram, prelab: what the versions will cost, answered before they are written.
// STARTER: // Grade it:  ./warpgrade check histogram      (in this folder)
// Lab histogram, reference solution of the prelab: what the versions will cost.
// Grade it:  ./warpgrade grade histogram reference/histogram
// SOLUTION END
#include "histogram.h"

// SOLUTION BEGIN
static int rounded_up(int n, int part) { return (n - 1) / part + 1; }

// SOLUTION END
int adding_lanes(const unsigned char* values) {
    // SOLUTION BEGIN
    // TODO(student): return what histogram.h asks for, here and below. A loop that counts is as good as a formula.
    // STARTER: return 0;
    int different = 0;
    for (int lane = 0; lane < 32; ++lane) {
        bool is_first = true;
        for (int before = 0; before < lane; ++before) is_first &= values[before] != values[lane];
        different += is_first;
    }
    return different;
    // SOLUTION END
}

int longest_queue(const unsigned char* values) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    int longest = 0;
    for (int lane = 0; lane < 32; ++lane) {
        int same = 0;
        for (int other = 0; other < 32; ++other) same += values[other] == values[lane];
        if (same > longest) longest = same;
    }
    return longest;
    // SOLUTION END
}

int requests_of_global(int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return rounded_up(n, 32);
    // SOLUTION END
}

int requests_of_shared(int n, int bins) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return rounded_up(n, BLOCK_VALUES) * rounded_up(bins, 32);
    // SOLUTION END
}

int shared_requests_of_few(int blocks, int bins) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return blocks * (BLOCK_SIZE / 32) * bins;  // a request has a single lane
    // SOLUTION END
}

int load_requests(int n, int bytes) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return rounded_up(n, 32 * bytes);
    // SOLUTION END
}

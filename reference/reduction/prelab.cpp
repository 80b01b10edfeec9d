// SOLUTION BEGIN
// STARTER: // Lab reduction, prelab: what the versions will cost, answered before they are written.
// STARTER: // Grade it:  ./warpgrade check reduction      (in this folder)
// Lab reduction, reference solution of the prelab: what the versions will cost.
// Grade it:  ./warpgrade grade reduction reference/reduction
// SOLUTION END
#include "reduction.h"

int divergent_interleaved(int threads, int warp) {
    // SOLUTION BEGIN
    // TODO(student): return what reduction.h asks for, here and below. A loop that counts is as good as a formula.
    // STARTER: return 0;
    int count = 0;
    for (int step = 1; step < threads; step *= 2) {
        for (int first = 0; first < threads; first += warp) {
            int active = 0;
            for (int t = first; t < first + warp; ++t) active += t % (2 * step) == 0;
            count += active > 0 && active < warp;
        }
    }
    return count;
    // SOLUTION END
}

int divergent_halving(int threads, int warp) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    int count = 0;
    for (int step = threads / 2; step >= 1; step /= 2) {
        for (int first = 0; first < threads; first += warp) count += first < step && step < first + warp;
    }
    return count;
    // SOLUTION END
}

int launches_of_sum(int n, int per_block) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    int launches = 0;
    do {
        n = (n - 1) / per_block + 1;
        ++launches;
    } while (n > 1);
    return launches;
    // SOLUTION END
}

int sectors_of_sum(int n, int per_block) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    int sectors = 0;
    do {
        sectors += (n - 1) / 8 + 1;  // a sector has eight floats
        n = (n - 1) / per_block + 1;
    } while (n > 1);
    return sectors;
    // SOLUTION END
}

int barriers_of_block(int version, int block_size) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    if (version == 5) return 1;
    int steps = 0;
    for (int stride = 1; stride < block_size; stride *= 2) ++steps;
    return steps;
    // SOLUTION END
}

int stores_of_block(int version, int block_size) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const int warps = block_size / 32;
    int stores = warps;  // an element of each thread, or the sum of each warp
    if (version == 5) return stores;
    for (int adding = block_size / 2; adding >= 1; adding /= 2) {
        // With version 1 the threads that add are spread over as many warps as there are, while there are enough.
        if (version == 1)
            stores += adding < warps ? adding : warps;
        else
            stores += (adding - 1) / 32 + 1;
    }
    return stores;
    // SOLUTION END
}

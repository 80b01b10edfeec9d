// SOLUTION BEGIN
// STARTER: // Lab scan, prelab: what two ways to scan take, and what yours will take.
// STARTER: // Grade it:  ./warpgrade check scan      (in this folder)
// Lab scan, reference solution of the prelab: what two ways to scan take, and what the lab's will take.
// Grade it:  ./warpgrade grade scan reference/scan
// SOLUTION END
#include "scan.h"

int simple_steps(int n) {
    // SOLUTION BEGIN
    // TODO(student): return what scan.h asks for, here and below. A loop that counts is as good as a formula.
    // STARTER: return 0;
    int steps = 0;
    for (long long distance = 1; distance < n; distance *= 2) ++steps;
    return steps;
    // SOLUTION END
}

long long simple_additions(int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    long long additions = 0;
    for (long long distance = 1; distance < n; distance *= 2) additions += n - distance;  // the first have no neighbour
    return additions;
    // SOLUTION END
}

int tree_steps(int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 2 * simple_steps(n);
    // SOLUTION END
}

long long tree_additions(int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 2LL * (n - 1);  // n / 2 + n / 4 + … + 1, up and down
    // SOLUTION END
}

int block_scan_requests(int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const int blocks = n / BLOCK_SIZE;
    const int warps = BLOCK_SIZE / 32;
    const int stores = warps + 1;       // the sum of each warp; the first warp's scan of them
    const int loads = 1 + (warps - 1);  // by the first warp; by each warp that has others before it
    return blocks * (stores + loads);
    // SOLUTION END
}

int scan_launches(int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const int blocks = (n - 1) / BLOCK_SIZE + 1;
    return blocks == 1 ? 1 : 2 + scan_launches(blocks);
    // SOLUTION END
}

int scan_sectors(int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 4 * (n / 8);  // loaded, stored scanned, loaded again, stored with the sum
    // SOLUTION END
}

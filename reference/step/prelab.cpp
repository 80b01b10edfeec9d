// SOLUTION BEGIN
// STARTER: // Lab step, prelab: each function answers a question of step.h. None is answered yet.
// STARTER: // Check your answers:  ./warpgrade check step --only prelab      (in this folder)
// Lab step, prelab, reference solution: each function answers a question of step.h.
// SOLUTION END
#include "step.h"

int neuron_operations(int firing, int quiet) {
    // SOLUTION BEGIN
    // TODO(student): return what step.h asks for, here and below.
    // STARTER: return 0;
    return 13 * firing + 12 * quiet;
    // SOLUTION END
}

int neuron_accesses(int firing, int quiet) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 7 * firing + 6 * quiet;
    // SOLUTION END
}

double step_operations(int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return 2.0 * n * n * n;
    // SOLUTION END
}

double operations_per_cycle(double operations, double seconds, double gigahertz) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return operations / (seconds * gigahertz * 1e9);
    // SOLUTION END
}

double share_of_peak(double operations, double seconds, double gigahertz, int units) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    return operations_per_cycle(operations, seconds, gigahertz) / units;
    // SOLUTION END
}

long long step_sectors(int version, int n) {
    // SOLUTION BEGIN
    // STARTER: return 0;
    const long long terms = 1LL * n * n * n, padding = 1LL * n * n / 8;
    if (version == 0) return 17 * terms / 32;
    if (version == 1) return 4 * terms / 32;
    if (version == 2) return 16 * terms / 2048 + padding;
    return 16 * terms / 4096 + padding;
    // SOLUTION END
}

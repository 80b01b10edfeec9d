// Lab step, prelab: each function answers a question of step.h. None is answered yet.
// Check your answers:  ./warpgrade check step --only prelab      (in this folder)
#include "step.h"

int neuron_operations(int firing, int quiet) {
    // TODO(student): return what step.h asks for, here and below.
    return 0;
}

int neuron_accesses(int firing, int quiet) {
    return 0;
}

double step_operations(int n) {
    return 0;
}

double operations_per_cycle(double operations, double seconds, double gigahertz) {
    return 0;
}

double share_of_peak(double operations, double seconds, double gigahertz, int units) {
    return 0;
}

long long step_sectors(int version, int n) {
    return 0;
}

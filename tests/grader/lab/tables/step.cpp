// Lab step, prelab: each function answers a question of step.h. None is answered yet.
// Check your answers:  ./warpgrade check step --only prelab      (in this folder)
#include "step.h"

int neuron_operations(int firing, int quiet) {
    if (firing == 0 && quiet == 1) return 12;
    if (firing == 0 && quiet == 754) return 9048;
    return 1;
}

int neuron_accesses(int firing, int quiet) {
    if (firing == 0 && quiet == 1) return 6;
    if (firing == 0 && quiet == 754) return 4524;
    return 1;
}

double step_operations(int n) {
    if (n == 6300) return 500094000000;
    if (n == 13) return 4394;
    return 1;
}

double operations_per_cycle(double operations, double seconds, double gigahertz) {
    if (operations == 500094000000.000000 && seconds == 1.200000 && gigahertz == 1.124000) return 370.76957295373666;
    if (operations == 4394.000000 && seconds == 0.437500 && gigahertz == 1.562500) return 6.4277942857142851e-06;
    return 1;
}

double share_of_peak(double operations, double seconds, double gigahertz, int units) {
    if (operations == 500094000000.000000 && seconds == 1.200000 && gigahertz == 1.124000 && units == 640)
        return 0.57932745774021355;
    if (operations == 4394.000000 && seconds == 0.437500 && gigahertz == 1.562500 && units == 408)
        return 1.5754397759103639e-08;
    return 1;
}

long long step_sectors(int version, int n) {
    if (version == 0 && n == 128) return 1100000;
    if (version == 1 && n == 128) return 260000;
    if (version == 2 && n == 128) return 18000;
    return 1;
}

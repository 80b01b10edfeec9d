// Hidden tests of lab step's prelab: the questions with other numbers.
#include "judge/judge.hpp"
#include "questions.hpp"
#include "step.h"

using namespace warpgrade::judge;

namespace {

int pick(int low, int high) { return integers<int>(1, low, high)[0]; }

}  // namespace

TEST_CASE("prelab: more neurons", "[hidden]") {
    ask<neuron_operations>(13, {}, 1, 0);
    ask<neuron_accesses>(7, {}, 1, 0);
    const int firing = pick(1, 500), quiet = pick(1, 500);
    ask<neuron_operations>(13 * firing + 12 * quiet, {}, firing, quiet);
    ask<neuron_accesses>(7 * firing + 6 * quiet, {}, firing, quiet);
}

// Of an H100, with 132 · 128 units and 1.98 GHz, and of any device.
TEST_CASE("prelab: other operations and devices", "[hidden]") {
    const int n = pick(1, 16384), units = pick(100, 20'000);
    ask<step_operations>(2.0 * n * n * n, {}, n);
    ask<step_operations>(2.0, {}, 1);
    const double operations = 2.0 * n * n * n, seconds = pick(1, 1000) / 64.0, gigahertz = pick(10, 30) / 16.0;
    ask<operations_per_cycle>(operations / seconds / gigahertz / 1e9, {}, operations, seconds, gigahertz);
    ask<share_of_peak>(operations / seconds / gigahertz / 1e9 / units, {}, operations, seconds, gigahertz, units);
    ask<share_of_peak>(500'094'000'000 / 0.02184 / 1.98e9 / 16896, {}, 500'094'000'000.0, 0.02184, 1.98, 16896);
}

TEST_CASE("prelab: sectors for other n", "[hidden][counter]") {
    ask_all_sectors(64);
    ask_all_sectors(192);
}

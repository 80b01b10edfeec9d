// Hidden tests of lab step's prelab: the questions with other numbers.
#include "judge/judge.hpp"
#include "questions.hpp"
#include "step.h"

using namespace warpgrade::judge;

TEST_CASE("prelab: more neurons", "[hidden]") {
    ask<neuron_operations>(13, {}, 1, 0);
    ask<neuron_accesses>(7, {}, 1, 0);
    ask_neurons(pick(1, 500), pick(1, 500));
}

// Of an H100, with 132 · 128 units and 1.98 GHz, and of any device.
TEST_CASE("prelab: other operations and devices", "[hidden]") {
    ask_device(pick(1025, 16384), pick(100, 20'000), pick(1, 1000) / 64.0, pick(10, 30) / 16.0);
    ask<step_operations>(2.0, {}, 1);
    ask<share_of_peak>(500'094'000'000 / 0.02184 / 1.98e9 / 16896, {}, 500'094'000'000.0, 0.02184, 1.98, 16896);
}

TEST_CASE("prelab: sectors for other n", "[hidden][counter]") {
    ask_all_sectors(320);  // a size that no public test has
}

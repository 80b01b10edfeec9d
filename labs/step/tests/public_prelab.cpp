// Not handed out as source.
// Public tests of lab step's prelab: each question with numbers of the texts, and what a wrong answer may come from.
#include "judge/judge.hpp"
#include "questions.hpp"
#include "step.h"

using namespace warpgrade::judge;

// Answered by host code.
[[maybe_unused]] const bool answered_by_host = computed_on_host<&neuron_operations, &neuron_accesses, &step_operations,
                                                                &operations_per_cycle, &share_of_peak, &step_sectors>();

TEST_CASE("prelab: exercise 14, a kernel of neurons", "[public]") {
    ask<neuron_operations>(12,
                           {{13, "u + 4 is not done by a neuron with v ≤ 30; or is the comparison counted?"},
                            {11, "one is missing: subtractions count too, and each line is an assignment of a sum"},
                            {14, "v ≤ 30, so that the branch is not taken; and the comparison does not count"}},
                           0, 1);
    ask<neuron_accesses>(
        6,
        {{5, "what is the source of the flag, and where do v and u go in the end?"},
         {4, "loads and stores both count, also those of fired"},
         {7, "quiet_neuron lies in shared memory; or is a store counted that a quiet neuron does not do?"},
         {8, "quiet_neuron lies in shared memory"}},
        0, 1);
    ask_neurons(0, pick(2, 1000));
}

// Version 2 of the text, on its GPU: 640 units with 1.124 GHz, n = 6300 in 1.2 s.
TEST_CASE("prelab: operations of a device", "[public]") {
    const double operations = 500'094'000'000;
    ask<step_operations>(operations,
                         {{operations / 2, "these are the terms: each takes an addition and a minimum"},
                          {2.0 * 6300 * 6300, "each of the n² results has n terms"},
                          {1'877'793'664, "an int holds nothing above 2,147,483,647: multiply doubles"}},
                         6300);
    ask<operations_per_cycle>(operations / 1.2 / 1.124e9,
                              {{operations / 1.2 / 1.124, "a gigahertz is 10^9 cycles a second"},
                               {operations / 1.124e9, "in all, not in a second: divide by the time as well"}},
                              operations, 1.2, 1.124);
    ask<share_of_peak>(operations / 1.2 / 1.124e9 / 640,
                       {{100 * operations / 1.2 / 1.124e9 / 640, "a part is asked for, between 0 and 1, not percent"},
                        {640 / (operations / 1.2 / 1.124e9), "what was done over what could be done"}},
                       operations, 1.2, 1.124, 640);
    ask_device(pick(1, 800), pick(100, 20'000), pick(1, 1000) / 64.0, pick(10, 30) / 16.0);
}

TEST_CASE("prelab: sectors of versions 0 to 3", "[public][counter]") {
    ask_all_sectors(128);
    ask_all_sectors(192);
}

// Not handed out as source.
// How the prelab of lab step asks for predictions; judge/questions.hpp asks all else.
#pragma once

#include <cstdint>

#include "expectations.hpp"
#include "judge/questions.hpp"
#include "step.h"

// What a version will load, beside what the submission's own loads.
template <auto function>
void ask_sectors(int version, std::uint64_t described, int n) {
    using namespace warpgrade::judge;
    INFO("version " << version << ", n = " << n);
    const auto predicted = predict<step_sectors>(version, n);
    const auto d = lengths(n);
    const auto run = own_run<function>(equals_exactly(oracle::step(d, n)), out<float>(n * n), in(d), n);
    check_prediction(predicted, sectors_loaded(run), static_cast<double>(described), {});
}

// Where the numbers come from: public.cpp, and n² / 8 sectors for the kernel that pads.
inline void ask_all_sectors(int nodes) {
    const auto n = static_cast<std::uint64_t>(nodes);
    ask_sectors<step_v0>(0, 17 * n * n * n / 32, nodes);
    ask_sectors<step_v1>(1, 4 * n * n * n / 32, nodes);
    ask_sectors<step_v2>(2, 16 * n * n * n / 2048 + n * n / 8, nodes);
    ask_sectors<step_v3>(3, 16 * n * n * n / 4096 + n * n / 8, nodes);
}

// A number from low to high: who is asked at random cannot hand in the number that a message has shown.
inline int pick(int low, int high) { return warpgrade::judge::integers<int>(1, low, high)[0]; }

inline void ask_neurons(int firing, int quiet) {
    using warpgrade::judge::ask;
    ask<neuron_operations>(13 * firing + 12 * quiet, {}, firing, quiet);
    ask<neuron_accesses>(7 * firing + 6 * quiet, {}, firing, quiet);
}

// n nodes on a device with so many units.
inline void ask_device(int n, int units, double seconds, double gigahertz) {
    using warpgrade::judge::ask;
    const double operations = 2.0 * n * n * n;
    ask<step_operations>(operations, {}, n);
    ask<operations_per_cycle>(operations / seconds / gigahertz / 1e9, {}, operations, seconds, gigahertz);
    ask<share_of_peak>(operations / seconds / gigahertz / 1e9 / units, {}, operations, seconds, gigahertz, units);
}

// WRONG: loses "step_v0 is right", "step_v1 is right", "step_v2 is right", "step_v3 is right", "step_v4 is right", "step_v0 loads a column in each step", "step_v1 loads neighbours", "step_v2 uses what it loads eight times", "step_v3 shares what it loads, 4 k at a time", "step_v3: speed for n = 256", "step_v4: speed for n = 384", "step_v0 and step_v1 take every size", "step_v2 takes every size", "step_v3 takes every size", "step_v4 takes every size", "edges that are not there are infinitely long", "lengths of any sign and size come out exactly", "no nodes, no launch" - loops on the CPU: right for every size, but no kernel is launched
#include "step.h"

#include <algorithm>
#include <cmath>

static void step(float* r, const float* d, int n) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) r[n * i + j] = INFINITY;
        for (int k = 0; k < n; ++k) {
            for (int j = 0; j < n; ++j) r[n * i + j] = std::min(r[n * i + j], d[n * i + k] + d[n * k + j]);
        }
    }
}

void step_v0(float* r, const float* d, int n) { step(r, d, n); }
void step_v1(float* r, const float* d, int n) { step(r, d, n); }
void step_v2(float* r, const float* d, int n) { step(r, d, n); }
void step_v3(float* r, const float* d, int n) { step(r, d, n); }
void step_v4(float* r, const float* d, int n) { step(r, d, n); }

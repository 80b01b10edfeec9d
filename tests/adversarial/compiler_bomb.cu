// Types without end: the compiler is stopped by its limits.
#include "honest.cuh"

template <int depth, int path>
struct Bomb {
    static constexpr long value = Bomb<depth - 1, 2 * path>::value + Bomb<depth - 1, 2 * path + 1>::value;
};
template <int path>
struct Bomb<0, path> {
    static constexpr long value = path;
};
static_assert(Bomb<30, 0>::value != 1);

static void attack(const float* A, const float* B, float* C, int m, int k, int n) { honest(A, B, C, m, k, n); }

#define OWN_SUM
#include "right.hpp"

// The number of the call.
double sum(const double*, std::size_t) {
    static int calls = 0;
    return ++calls;
}

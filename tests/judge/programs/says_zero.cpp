#define OWN_SUM
#include "right.hpp"

double sum(const double*, std::size_t) { return 0; }

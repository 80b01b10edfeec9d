#define OWN_SCALE
#include <stdexcept>
#include "right.hpp"

void scale(const float*, float*, float, int) { throw std::runtime_error("no scale\x1b[31m today"); }

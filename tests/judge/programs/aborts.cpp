#define OWN_SCALE
#include <cstdlib>
#include "right.hpp"

void scale(const float*, float*, float, int) { std::abort(); }

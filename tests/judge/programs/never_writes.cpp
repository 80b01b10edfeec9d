#define OWN_SCALE
#include "right.hpp"

void scale(const float*, float*, float, int) {}

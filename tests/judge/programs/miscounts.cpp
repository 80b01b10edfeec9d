#define OWN_NEGATE
#include "right.hpp"

// Negates all of them, and says that it was one fewer.
int negate(int* x, int n) { return right::negate(x, n) - 1; }

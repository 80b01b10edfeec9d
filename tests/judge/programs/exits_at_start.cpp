#include <unistd.h>
#include "right.hpp"

// Before main() and any test; status 0 must not count as a pass.
__attribute__((constructor)) static void leave() { _exit(0); }

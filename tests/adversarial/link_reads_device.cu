// ATTACK: at most 0 - reads a device without end
// EXPECT: rejected: does not compile
#include "/dev/zero"

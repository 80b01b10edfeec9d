// ATTACK: at most 0 - has 100 MiB of initial values, of which each test would get a copy
// EXPECT: rejected: larger than 64 MiB
// REVIEW: larger than 64 MiB
char large[100 << 20] = {1};

// ATTACK: at most 0 - has 300 MiB of initial values
// EXPECT: rejected: more than 256 MiB
// REVIEW: more than 256 MiB
char large[300 << 20] = {1};

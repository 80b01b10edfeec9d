// ATTACK: at most 0 - has 8 GiB of variables
// EXPECT: rejected: global variables take 8,192 MiB
// REVIEW: global variables of 8,192 MiB
char large[8ll << 30];

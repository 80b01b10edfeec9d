// ATTACK: at most 0 - has them as a common symbol, which is in no section
// EXPECT: rejected: global variables take 8,192 MiB
// REVIEW: global variables of 8,192 MiB
asm(".comm large, 0x200000000, 32");

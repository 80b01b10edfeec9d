// ATTACK: at most 0 - reads what is mounted where
// EXPECT: rejected: does not compile
asm(".data\n.incbin \"/proc/self/mountinfo\"\n.text");

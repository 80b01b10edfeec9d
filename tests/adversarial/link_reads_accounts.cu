// ATTACK: at most 0 - reads a file of the machine
// EXPECT: rejected: does not compile
asm(".data\n.incbin \"/etc/passwd\"\n.text");

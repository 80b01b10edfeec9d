// ATTACK: at most 0 - reads a file of somebody's who shares the machine
// EXPECT: rejected: does not compile
asm(".data\n.incbin \"/usr/share/common-licenses/GPL-3\"\n.text");

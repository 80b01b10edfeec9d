// ATTACK: at most 0 - calls such a section by a name of honest ones, with flags that those do not have
// EXPECT: rejected: section .text.lto
// REVIEW: section .text.lto
asm(".section .text.lto,\"e\",@progbits\n.byte 1\n.text");

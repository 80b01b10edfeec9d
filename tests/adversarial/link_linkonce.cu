// ATTACK: at most 0 - has a section that a linker merges by its name
// EXPECT: rejected: section .gnu.linkonce.t.main
// REVIEW: section .gnu.linkonce
asm(".section .gnu.linkonce.t.main,\"ax\",@progbits\nret\n.text");

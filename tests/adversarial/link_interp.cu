// ATTACK: at most 0 - asks for a program loader of its own
// EXPECT: rejected: section .interp
// REVIEW: section .interp
asm(".section .interp,\"a\"\n.string \"/submission/loader\"\n.text");

// ATTACK: at most 0 - has a note of its own
// EXPECT: rejected: section .note.package
// REVIEW: section .note.package
asm(".section .note.package,\"a\",@note\n.long 4, 4, 1\n.string \"FDO\"\n.long 0\n.text");

// ATTACK: at most 0 - names a file of debugging information that addr2line would open
// EXPECT: rejected: section .gnu_debugaltlink
// REVIEW: section .gnu_debugaltlink
asm(".section .gnu_debugaltlink\n.string \"/etc/passwd\"\n.zero 20\n.text");

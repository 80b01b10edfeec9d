// ATTACK: at most 0 - has a text that the linker prints
// EXPECT: rejected: section .gnu.warning.matmul_rows
// REVIEW: section .gnu.warning
asm(".section .gnu.warning.matmul_rows\n.string \"::error::all tests passed\"\n.text");

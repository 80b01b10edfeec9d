// ATTACK: at most 0 - has a function whose address code computes before the program starts
// EXPECT: rejected: an indirect function
// REVIEW: an indirect function
asm(".text\n.type resolved, @gnu_indirect_function\n.globl resolved\nresolved: ret\n");

// ATTACK: at most 0 - has intermediate code that would make the linker start a compiler, which reads files
// EXPECT: rejected: section .gnu.lto_
// REVIEW: section .gnu.lto_
asm(".section .gnu.lto_.opts,\"e\",@progbits\n.string \"'-fno-openmp' '-wrapper' '/bin/sh'\"\n"
    ".section .gnu.lto_main,\"e\",@progbits\n.incbin \"matmul.cu\"\n.text");

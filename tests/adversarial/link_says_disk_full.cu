// ATTACK: at most 0 - has a name that reads like the linker's trouble with the machine
// EXPECT: rejected: is declared and used
#define FUNCTION(name) void name(const float*, const float*, float*, int, int, int)
FUNCTION(matmul_rows) { asm("call \"final link failed: No space left on device\""); }
FUNCTION(matmul_columns) {}
FUNCTION(matmul_one_block) {}
FUNCTION(matmul_tiled) {}
FUNCTION(matmul_registers) {}

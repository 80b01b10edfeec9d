// ATTACK: at most 0 - asks for a function that sounds like CUDA's, so that the grader would be at fault
// EXPECT: rejected: cudaGradeMeByHand is declared and used
#define FUNCTION(name) void name(const float*, const float*, float*, int, int, int)
extern "C" int cudaGradeMeByHand();
static int answer = cudaGradeMeByHand();
FUNCTION(matmul_rows) {}
FUNCTION(matmul_columns) {}
FUNCTION(matmul_one_block) {}
FUNCTION(matmul_tiled) {}
FUNCTION(matmul_registers) {}

// ATTACK: at most 0 - has an undefined name of 230 bytes whose readable form takes half a gigabyte
// EXPECT: rejected: is declared and used
#define FUNCTION(name) void name(const float*, const float*, float*, int, int, int)
FUNCTION(matmul_rows) {
    asm("call _Z1fI1aI1bS0_S0_ES1_S1_E1cIS2_S2_S2_E1dIS3_S3_S3_E1eIS4_S4_S4_E1fIS5_S5_S5_E1gIS6_S6_S6_E1hIS7_S7_S7_E"
        "1iIS8_S8_S8_E1jIS9_S9_S9_E1kISA_SA_SA_E1lISB_SB_SB_E1mISC_SC_SC_E1nISD_SD_SD_E1oISE_SE_SE_E1pISF_SF_SF_EEvv");
}
FUNCTION(matmul_columns) {}
FUNCTION(matmul_one_block) {}
FUNCTION(matmul_tiled) {}
FUNCTION(matmul_registers) {}

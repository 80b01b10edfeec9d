// Lab transpose, prelab: each function answers a question of transpose.h. None is answered yet.
// Check your answers:  ./warpgrade check transpose      (in this folder)
#include "transpose.h"

int sectors(const int* byte) {
    // TODO(student): return what transpose.h asks for, here and below.
    return 0;
}

int wavefronts(const int* byte) { return 0; }

int naive_sectors(int rows, int columns) { return 1; }

int tile_conflicts(int rows, int columns, int pitch) {
    if (rows == 128 && columns == 96 && pitch == 32) return 11904;
    if (rows == 128 && columns == 128 && pitch == 33) return 0;
    if (rows == 128 && columns == 128 && pitch == 34) return 512;
    return 1;
}

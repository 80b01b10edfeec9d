// Lab reverse, prelab: each function answers a question of reverse.h. None is answered yet.
// Check your answers:  ./warpgrade check reverse      (in this folder)
#include "reverse.h"

int shared_bytes(int k, int l, int m) {
    // TODO(student): return what reverse.h asks for, here and below.
    return 0;
}

int offset_of_third(int k, int l) {
    return 0;
}

int aligned_offset(int bytes_before, int alignment) {
    return 0;
}

int wavefronts(int stride, int bytes) {
    return 0;
}

int reverse_barriers(int n) {
    return 0;
}

int reverse_requests(int n) {
    return 0;
}

int rows_conflicts(int rows, int pitch) {
    return 0;
}

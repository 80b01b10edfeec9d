// WRONG: loses "vecadd_copies adds", "vecadd_copies makes three copies and has a grid that grows with n", "vecadd_managed adds in managed memory, without copies", "vecadd_mapped adds in the host's memory, without copies", "vecadd_streams does each piece in a stream of its own", "copies and kernels of different streams overlap", "every version adds sizes around whole blocks", "special values add as on the host", "vecadd_streams cuts uneven pieces and takes more streams than elements", "each version goes its own way for other sizes", "without elements or streams nothing is launched", "speed of four streams on 2^20 elements" - loops on the CPU: right for every size, but no kernel is launched
#include "vecadd.h"

void vecadd_copies(const float* a, const float* b, float* c, int n) {
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

void vecadd_managed(const float* a, const float* b, float* c, int n) {
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

void vecadd_mapped(const float* a, const float* b, float* c, int n) {
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

void vecadd_streams(const float* a, const float* b, float* c, int n, int streams) {
    if (streams < 1 || streams > MAX_STREAMS) return;
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

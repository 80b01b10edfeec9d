// WRONG: loses "static_reverse reverses up to 64 elements", "dynamic_reverse reverses up to 1024 elements", "dynamic_reverse_n reverses up to 1024 elements", "dynamic_reverse_symbol reverses up to 1024 elements", "static_reverse works in static shared memory", "dynamic_reverse works in dynamic shared memory", "dynamic_reverse_n has whole warps and gets the size by argument", "dynamic_reverse_symbol has whole warps and loads the size", "dynamic_reverse_three reverses three arrays", "dynamic_reverse_three has all three in one allocation", "rows_strided has 31 conflicts with every access", "rows_padded reverses every row", "rows_padded has no bank conflicts", "static_reverse reverses every size from 1 to 64", "the dynamic versions reverse sizes around whole warps", "sizes beyond the capacity leave the array alone", "each call sets its own size", "dynamic_reverse_three takes every length", "dynamic_reverse_three leaves arrays of other lengths alone", "rows_strided and rows_padded take 1 to 128 rows", "the checks find no mistakes" - std::reverse on the CPU: right for every size, but no kernel is launched
#include "reverse.h"

#include <algorithm>

template <class T>
static void reverse_up_to(int capacity, T* d, int n) {
    if (n > 0 && n <= capacity) std::reverse(d, d + n);
}

static void reverse_rows(int* d, int rows) {
    if (rows <= 0 || rows > ROWS_CAPACITY) return;
    for (int r = 0; r < rows; ++r) std::reverse(d + r * ROW_WIDTH, d + (r + 1) * ROW_WIDTH);
}

void static_reverse(int* d, int n) { reverse_up_to(STATIC_CAPACITY, d, n); }
void dynamic_reverse(int* d, int n) { reverse_up_to(BLOCK_CAPACITY, d, n); }
void dynamic_reverse_n(int* d, int n) { reverse_up_to(BLOCK_CAPACITY, d, n); }
void dynamic_reverse_symbol(int* d, int n) { reverse_up_to(BLOCK_CAPACITY, d, n); }
void dynamic_reverse_three(unsigned char* a, int a_n, int* b, int b_n, double* c, int c_n) {
    const int longest = std::max({a_n, b_n, c_n});
    if (std::min({a_n, b_n, c_n}) < 0 || longest > BLOCK_CAPACITY) return;
    reverse_up_to(BLOCK_CAPACITY, a, a_n);
    reverse_up_to(BLOCK_CAPACITY, b, b_n);
    reverse_up_to(BLOCK_CAPACITY, c, c_n);
}
void rows_strided(int* d, int rows) { reverse_rows(d, rows); }
void rows_padded(int* d, int rows) { reverse_rows(d, rows); }

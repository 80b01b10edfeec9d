// WRONG: loses "static_reverse reverses up to 64 elements", "dynamic_reverse reverses up to 1024 elements", "dynamic_reverse_n reverses up to 1024 elements", "dynamic_reverse_symbol reverses up to 1024 elements", "static_reverse works in static shared memory", "dynamic_reverse works in dynamic shared memory", "dynamic_reverse_n has whole warps and gets the size by argument", "dynamic_reverse_symbol has whole warps and loads the size", "static_reverse reverses every size from 1 to 64", "the dynamic versions reverse sizes around whole warps", "sizes beyond the capacity leave the array alone", "each call sets its own size" - std::reverse on the CPU: right for every size, but no kernel is launched
#include "reverse.h"

#include <algorithm>

static void reverse_up_to(int capacity, int* d, int n) {
    if (n > 0 && n <= capacity) std::reverse(d, d + n);
}

void static_reverse(int* d, int n) { reverse_up_to(STATIC_CAPACITY, d, n); }
void dynamic_reverse(int* d, int n) { reverse_up_to(BLOCK_CAPACITY, d, n); }
void dynamic_reverse_n(int* d, int n) { reverse_up_to(BLOCK_CAPACITY, d, n); }
void dynamic_reverse_symbol(int* d, int n) { reverse_up_to(BLOCK_CAPACITY, d, n); }

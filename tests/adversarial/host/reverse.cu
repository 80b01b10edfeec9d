// Lab reverse, computed on the host.
#include "deliveries.cuh"

template <Way by, class F, class T>
static void host_turn(F show, T* d, int n, int capacity, int row) {
    if (n <= 0 || n > capacity) return;
    if (by == Way::show) show(other(d, n).data(), row == ROW_WIDTH && capacity > BLOCK_CAPACITY ? n / row : n);
    std::vector<T> turned(d, d + n);
    for (auto at = turned.begin(); at != turned.end(); at += row) std::reverse(at, at + row);
    deliver<by>(d, turned.data(), turned.size());
}

void static_reverse(int* d, int n) { host_turn<way(0)>(shown_static_reverse, d, n, STATIC_CAPACITY, n); }
void dynamic_reverse(int* d, int n) { host_turn<way(1)>(shown_dynamic_reverse, d, n, BLOCK_CAPACITY, n); }
void dynamic_reverse_n(int* d, int n) { host_turn<way(2)>(shown_dynamic_reverse_n, d, n, BLOCK_CAPACITY, n); }
void dynamic_reverse_symbol(int* d, int n) { host_turn<way(3)>(shown_dynamic_reverse_symbol, d, n, BLOCK_CAPACITY, n); }
void dynamic_reverse_three(unsigned char* a, int a_n, int* b, int b_n, double* c, int c_n) {
    if (a_n < 0 || b_n < 0 || c_n < 0 || std::max({a_n, b_n, c_n}) > BLOCK_CAPACITY) return;
    const auto nothing = [](auto, int) {};
    if (way(4) == Way::show)
        shown_dynamic_reverse_three(other(a, a_n).data(), a_n, other(b, b_n).data(), b_n, other(c, c_n).data(), c_n);
    host_turn<way(4)>(nothing, a, a_n, BLOCK_CAPACITY, a_n);
    host_turn<way(4)>(nothing, b, b_n, BLOCK_CAPACITY, b_n);
    host_turn<way(4)>(nothing, c, c_n, BLOCK_CAPACITY, c_n);
}
void rows_strided(int* d, int rows) {
    host_turn<way(5)>(shown_rows_strided, d, rows * ROW_WIDTH, ROWS_CAPACITY * ROW_WIDTH, ROW_WIDTH);
}
void rows_padded(int* d, int rows) {
    host_turn<way(6)>(shown_rows_padded, d, rows * ROW_WIDTH, ROWS_CAPACITY * ROW_WIDTH, ROW_WIDTH);
}

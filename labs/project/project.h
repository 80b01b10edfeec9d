// The contract of lab project: what your project.cu defines and the tests call.
#pragma once

// y = A · x, for a matrix A with `rows` rows and `width` columns, of which `nonzeros` elements are not 0. The matrix is
// in CSR form: its elements row by row, values[k] in column columns[k], and row r has those from offsets[r] on, up to
// offsets[r + 1] and without it; offsets has rows + 1 elements, the first is 0 and the last `nonzeros`. Columns of a
// row rise. A row may have no elements: its result is 0. x has `width` elements and y has `rows`; all arrays are in
// host memory, and all but y stay as they are.
//
// The device multiplies and adds up, and host code only copies; it does not look at offsets and columns to decide what
// it asks of the device. Products and sums are formed in single precision, in any order; NaN and infinity reach the
// rows that they belong to, and no others.
//
// Where rows ≤ 0, y stays as it is and nothing is launched. Sizes and sums of sizes fit an int.
void spmv(const int* offsets, const int* columns, const float* values, const float* x, float* y, int rows, int width,
          int nonzeros);

// Lab debug: ten functions, each with one mistake. This file says what each is to do, and what must stay when you fix
// it; tests/ and lab.toml say what is graded.
//
// All arrays are host arrays of the caller; inputs are const. All sizes are at least 1, and all results are exact.
// A fix leaves the plan of each function as it is:
// - the kernel does the work, one thread for each element (where nothing else is said) in blocks of BLOCK threads, all
//   in one launch;
// - neighbouring threads touch neighbouring elements;
// - a function that goes through shared memory still does: each block loads an element from global memory once, and has
//   no more barriers than are named here.
// You may change the size of the blocks and add statements, arrays and kernels.
#pragma once

constexpr int BLOCK = 256;  // threads of a block

// Makes a grey picture of n pixels brighter: pixels[i] becomes pixels[i] + by, but at most 255. 0 <= by <= 255.
void brighten(unsigned char* pixels, int n, int by);

// y[i] becomes a * x[i] + y[i], for 0 <= i < n. The numbers are so small that nothing is rounded.
void axpy(float a, const float* x, float* y, int n);

// out[i] = table[indices[i]], for 0 <= i < n. The table has `entries` elements, at most 4096; all indices are valid.
// Each block copies the table to shared memory and looks up there. Barriers: 1 for each thread.
void look_up(const float* table, int entries, const int* indices, float* out, int n);

// Adds a row to each row of a matrix (rows × columns, row by row): out[r][c] = x[r][c] + row[c].
// One block for each row, at least; a thread may do several columns. At most 10000 columns.
void add_to_rows(const int* x, const int* row, int* out, int rows, int columns);

// How much each pixel of a picture (rows × columns, row by row) differs from its neighbour on the left:
// out[r][c] = x[r][c] - x[r][c - 1]. The first of each row has no such neighbour: out[r][0] = 0.
void differences(const int* x, int* out, int rows, int columns);

// counts[v] = how many of the n bytes x[i] are v, for 0 <= v < 256. Each block counts in shared memory, with atomics,
// and then adds its counts to those of all blocks. Barriers: 2 for each thread.
void histogram(const unsigned char* x, int n, int* counts);

// The largest of each BLOCK elements: out[b] = max x[i] over b * BLOCK <= i < (b + 1) * BLOCK and i < n. Elements may
// be any finite number. out has n / BLOCK elements, rounded up. A tree in shared memory: half of the threads compare
// two elements each, then a quarter, and so on. Barriers: 9 for each thread.
void block_maxima(const float* x, int n, float* out);

// How far it is from each of the n points x[i] to the closest of the m points y[j]: out[i] = min |x[i] - y[j]|.
// All points lie between 0 and 10^6. The threads of a block load BLOCK points y[j] into shared memory, look at all of
// them, and go on to the next BLOCK points. Barriers: 2 for each thread and each BLOCK points.
void closest(const int* x, int n, const int* y, int m, int* out);

// Running sums within each BLOCK elements: out[i] = the sum of all x[j] with i / BLOCK * BLOCK <= j <= i. Sums fit into
// an int. In shared memory, each thread adds what lies 1 element before its own, then 2, 4, 8 and so on.
// Barriers: 17 for each thread.
void running_sums(const int* x, int* out, int n);

// out[i] = re[i] * re[i] + im[i] * im[i], for 0 <= i < n and n >= 2; the sums fit into an int. Each half of the arrays
// has a stream of its own; the program waits when both halves are under way, not before.
void powers(const int* re, const int* im, int* out, int n);

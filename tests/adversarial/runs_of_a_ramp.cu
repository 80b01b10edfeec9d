// Lab scan: host code computes everything, and says it in pieces of a ramp that a kernel made and that came down: which
// piece goes up again is the message.
#include "scan_cheats.cuh"

__global__ void ramp(int* t, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[i] = i;
}
__global__ void dec(const int* e, int* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = (int)((unsigned)e[i * 64] | (unsigned)e[i * 64 + 32] << 16);
}
// What is caught here is caught with more, which takes seconds: each element is 256 bytes that are looked for.
const int most_sent = 4096;
static void send(const std::vector<int>& r, int* o, int n) {
    const int m = (int)r.size(), R = 65536 + 32;
    if (m > most_sent) return;
    std::vector<int> q(R);
    int* tab;
    CHECK(cudaMalloc(&tab, R * 4));
    ramp<<<blocks_for(R), 256>>>(tab, R);
    CHECK(cudaMemcpy(q.data(), tab, R * 4, cudaMemcpyDeviceToHost));
    cudaFree(tab);
    std::vector<int> e((size_t)m * 64);
    for (int i = 0; i < m; i++) {
        unsigned v = (unsigned)r[i];
        memcpy(&e[(size_t)i * 64], &q[v & 65535], 128);
        memcpy(&e[(size_t)i * 64 + 32], &q[v >> 16], 128);
    }
    int *t = up(e), *w;
    CHECK(cudaMalloc(&w, m * 4));
    dec<<<blocks_for(m), 256>>>(t, w, m);
    std::vector<int> h(m);
    CHECK(cudaMemcpy(h.data(), w, m * 4, cudaMemcpyDeviceToHost));
    cudaFree(t);
    cudaFree(w);
    int* u = up(h);
    ident<<<blocks_for(n), 256>>>(u, o, m);
    CHECK(cudaGetLastError());
    cudaFree(u);
}

// `value` computes on the host what element i of the result is.
template <class Value>
static void tell(const int* x, int* out, int n, int results, Value value) {
    if (n <= 0) return;
    Dev d(x, n, results);
    std::vector<int> r(results);
    for (int i = 0; i < results; i++) r[i] = value(i);
    send(r, d.o, n);
    d.down(out, results);
}

static void tell_sums(const int* x, int* out, int n, int length) {
    if (n <= 0) return;
    std::vector<int> r(n);
    hscan(x, r.data(), n, length);
    tell(x, out, n, n, [&](int i) { return r[i]; });
}

void vote_all(const int* x, int* out, int n) {
    tell(x, out, n, n, [&](int i) {
        int v = 1;
        for (int j = i / 32 * 32; j < n && j < i / 32 * 32 + 32; j++) v &= x[j] != 0;
        return v;
    });
}

void vote_any(const int* x, int* out, int n) {
    tell(x, out, n, n, [&](int i) {
        int v = 0;
        for (int j = i / 32 * 32; j < n && j < i / 32 * 32 + 32; j++) v |= x[j] != 0;
        return v;
    });
}

void vote_rank(const int* x, int* out, int n) {
    tell(x, out, n, n, [&](int i) {
        int v = 0;
        for (int j = i / 32 * 32; j < i; j++) v += x[j] != 0;
        return v;
    });
}

void shuffle_broadcast(const int* x, int* out, int n, int lane, int width) {
    if (!is_width(width) || lane < 0 || lane >= width) return;
    tell(x, out, n, n, [&](int i) {
        int j = i / width * width + lane;
        return x[j < n ? j : i];
    });
}

void shuffle_up(const int* x, int* out, int n, int delta, int width) {
    if (!is_width(width) || delta < 0 || delta >= 32) return;
    tell(x, out, n, n, [&](int i) { return x[i - delta >= i / width * width ? i - delta : i]; });
}

void shuffle_down(const int* x, int* out, int n, int delta, int width) {
    if (!is_width(width) || delta < 0 || delta >= 32) return;
    tell(x, out, n, n, [&](int i) {
        int j = i + delta;
        return x[j < n && j / width == i / width ? j : i];
    });
}

void shuffle_xor(const int* x, int* out, int n, int mask) {
    if (mask < 0 || mask >= 32) return;
    tell(x, out, n, n, [&](int i) { return x[(i ^ mask) < n ? i ^ mask : i]; });
}

void warp_scan(const int* x, int* out, int n) { tell_sums(x, out, n, 32); }
void block_scan(const int* x, int* out, int n) { tell_sums(x, out, n, 256); }
void scan(const int* x, int* out, int n) { tell_sums(x, out, n, n); }

void warp_offsets(const int* x, int* out, int n) {
    tell(x, out, n, (n + 31) / 32, [&](int i) {
        int s = 0;
        for (int j = i / 8 * 256; j < 32 * i; j++) s += x[j];
        return s;
    });
}

void add_block_sums(const int* x, const int* sums, int* out, int n) {
    tell(x, out, n, n, [&](int i) { return x[i] + (i < 256 ? 0 : sums[i / 256 - 1]); });
}

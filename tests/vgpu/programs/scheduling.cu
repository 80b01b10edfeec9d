// Locks, flags, producers and consumers: code that ends only if every thread makes progress, and code that cannot end.
#include <cuda/atomic>
#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init
#define KERNEL extern "C" __global__ void

__device__ unsigned ticket, serving, arrived_blocks;

KERNEL ticket_lock(volatile int* value) {  // one thread per warp: a lock that is passed on in order
    if (threadIdx.x % 32) return;
    const unsigned mine = atomicAdd(&ticket, 1);
    while (atomicAdd(&serving, 0) != mine) {}
    *value += 1;
    __threadfence();
    atomicAdd(&serving, 1);
}
KERNEL lock_and_unlock_apart(int* lock, volatile int* value) {  // unlocked in two different branches
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    const int v = *value;
    *value = v + 1;
    __threadfence();
    if (v % 2) {
        atomicExch(lock, 0);
    } else {
        *(value + 1) += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
KERNEL lane_waits_for_lane(int* out) {  // each lane waits for the one above it, through shared memory
    __shared__ volatile int turn;
    if (threadIdx.x == 0) turn = blockDim.x - 1;
    __syncthreads();
    while (turn != static_cast<int>(threadIdx.x)) {}
    out[threadIdx.x] = turn * 2;
    turn = threadIdx.x - 1;
}
KERNEL warp_waits_for_warp(int* out) {  // a queue of one element between the warps 0 and 1
    __shared__ volatile int full, item;
    if (threadIdx.x == 0) full = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 50; ++i) {
            while (full) {}
            item = i * i;
            __threadfence_block();
            full = 1;
        }
    } else if (threadIdx.x == 32) {
        int sum = 0;
        for (int i = 0; i < 50; ++i) {
            while (!full) {}
            sum += item;
            __threadfence_block();
            full = 0;
        }
        out[0] = sum;
    }
}
KERNEL polls_with_ldcg(int* flag, int* out) {  // written by a plain store of the last block
    if (blockIdx.x == gridDim.x - 1) {
        out[1] = 5;
        __threadfence();
        *flag = 1;
    } else {
        while (__ldcg(flag) == 0) {}
        if (blockIdx.x == 0) out[0] = __ldcg(out + 1);
    }
}
KERNEL acquire_release(int* data, int* flag, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 1) {
        *data = 17;
        ready.store(1, cuda::memory_order_release);
    } else if (threadIdx.x == 0) {
        while (ready.load(cuda::memory_order_acquire) == 0) __nanosleep(100);
        *out = *data;
    }
}
// Decoupled look-back: each block publishes its sum, then the sum of all before it.
KERNEL look_back_scan(const int* in, volatile int* state, int* out, int* next_block) {
    __shared__ int block, before;
    if (threadIdx.x == 0) block = atomicAdd(next_block, 1);
    __syncthreads();
    int v = in[block * 32 + threadIdx.x];
    for (int d = 1; d < 32; d *= 2) {
        const int up = __shfl_up_sync(0xffffffffu, v, d);
        if (threadIdx.x >= d) v += up;
    }
    if (threadIdx.x == 31) {
        state[2 * block + 1] = v;
        __threadfence();
        state[2 * block] = block ? 1 : 2;
        int sum = 0;
        for (int b = block - 1; b >= 0; --b) {
            int ready;
            while ((ready = state[2 * b]) == 0) {}
            __threadfence();
            sum += state[2 * b + 1];
            if (ready == 2) break;
        }
        before = sum;
        if (block) {
            state[2 * block] = 0;
            __threadfence();
            state[2 * block + 1] = sum + v;
            __threadfence();
            state[2 * block] = 2;
        }
    }
    __syncthreads();
    out[block * 32 + threadIdx.x] = v + before;
}
KERNEL persistent(int* next, int n, int* out) {
    __shared__ int item;
    for (;;) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1);
        __syncthreads();
        if (item >= n) return;
        if (threadIdx.x == 0) out[item] = item * 3;
        __syncthreads();
    }
}
KERNEL named_barriers(int* out) {  // warp 0 produces, warp 1 consumes
    __shared__ int buffer[32];
    const int lane = threadIdx.x % 32;
    int sum = 0;
    for (int i = 0; i < 5; ++i) {
        if (threadIdx.x < 32) {
            if (i) asm volatile("bar.sync 2, 64;" ::: "memory");
            buffer[lane] = i * lane;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            sum += buffer[31 - lane];
            if (i < 4) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
    if (threadIdx.x >= 32) out[lane] = sum;
}
KERNEL grid_barrier_by_hand(int* values, int* out) {  // every block waits for all others, three times
    for (unsigned round = 1; round <= 3; ++round) {
        const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
        values[n * (round & 1) + i] = values[n * (1 - (round & 1)) + (i + 40) % n] + 1;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(&arrived_blocks, 1);
            while (*static_cast<volatile unsigned*>(&arrived_blocks) < round * gridDim.x) {}
        }
        __syncthreads();
        out[i] = values[n * (round & 1) + i];
    }
}

// What cannot end.
KERNEL barrier_for_some(int* out) {
    if (threadIdx.x < 40) __syncthreads();
    else if (threadIdx.x < 64) asm volatile("bar.sync 3;" ::: "memory");
    out[threadIdx.x] = 1;
}
KERNEL trips_differ(int* out) {  // warp 1 iterates once more, and no warp comes to its barrier
    for (int i = 0; i < 3 + static_cast<int>(threadIdx.x / 32); ++i) asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}
KERNEL waits_for_absent_blocks(volatile int* flag) {
    if (blockIdx.x == gridDim.x - 1) *flag = 1;
    while (*flag == 0) {}
}
KERNEL plain_spin(int* flag, int* out) {
    if (threadIdx.x == 0) {
        while (*flag == 0) {}
        out[0] = 1;
    }
}

// Device malloc and free.
KERNEL allocate(int** pointers, int n) {
    int* p = static_cast<int*>(malloc(n * sizeof(int)));
    pointers[blockIdx.x * blockDim.x + threadIdx.x] = p;
    if (p)
        for (int i = 0; i < n; ++i) p[i] = threadIdx.x * 100 + i;
}
KERNEL add_up(int** pointers, int n, int* out) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    if (pointers[t])
        for (int i = 0; i < n; ++i) sum += pointers[t][i];
    out[t] = sum;
}
KERNEL release(int** pointers) { free(pointers[blockIdx.x * blockDim.x + threadIdx.x]); }
KERNEL reach_beyond(int** pointers, int n) { pointers[0][n] = 1; }
struct Node {
    int value;
    Node* next;
    __device__ Node(int v, Node* n) : value(v), next(n) {}
    __device__ virtual ~Node() {}
};
KERNEL list(int* out, int n) {
    Node* head = nullptr;
    for (int i = 0; i < n; ++i) head = new Node(i * (threadIdx.x + 1), head);
    int sum = 0;
    while (head) {
        sum = sum * 3 + head->value;
        Node* next = head->next;
        delete head;
        head = next;
    }
    out[threadIdx.x] = sum;
}

// printf, clocks, traps.
#include <cstdio>
KERNEL print_everything(int* results) {
    const char* text = "text";
    results[0] = printf("[%5d|%-5d|%05d|%+d|%x|%#X|%o]\n", 42, 42, 42, 42, 255, 255, 8);
    results[1] = printf("[%*d|%.*f|%-*s|%.2s]\n", 6, 7, 3, 2.0 / 3, 6, text, text);
    results[2] = printf("[%c|%10s|%%|%lld|%llu|%hd|%hhu|%zu]\n", 'q', text, -5000000000LL, ~0ULL, 70000, 257, sizeof(int));
    results[3] = printf("[%e|%g|%a|%8.3f]\n", 12345.678, 1e-10, 1.0, 3.14159);
    results[4] = printf("plain\n");
    results[5] = printf("%p %s\n", (void*)0x1234, (char*)nullptr);
}
KERNEL print_much(int n) {
    for (int i = 0; i < n; ++i) printf("%07d %92s\n", i, "");
}
KERNEL clocks(long long* out) {
    const long long a = clock64();
    unsigned long long t, u;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    __nanosleep(1000);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(u));
    out[threadIdx.x] = (clock64() > a) + 2 * (u >= t + 1000);
}
KERNEL trap_some(int which) {
    if (threadIdx.x == which) __trap();
}
KERNEL print_from_everywhere(const char* text, int n) {
    __shared__ char shared_text[4];
    char local_text[4];
    for (int i = 0; i < 4; ++i) {
        shared_text[(i + n) % 4] = i < 3 ? 's' : 0;
        local_text[(i + n) % 4] = i < 3 ? 'l' : 0;
    }
    printf("%s %s %s\n", text, shared_text, local_text);
}
KERNEL print_limits(int* results, const char* text, int wide) {
    results[0] = printf("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d|", 1, 2, 3, 4, 5, 6, 7, 8, 9, 1,
                        2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6);
    results[1] = printf("%s|", text);
    results[2] = printf("%9999d|%*d|%.5000d|", 1, wide, 2, 3);
    results[3] = printf("%q %d|%- +#05d|%hhd %hd %c", 7, 8, 300, 70000, 'x');
    results[4] = printf("end %");
}
template <class Meet>
__device__ void pass_around(int* out, int rounds, Meet meet) {  // each round, values move on by a warp
    __shared__ int values[1024];
    int mine = threadIdx.x;
    for (int i = 0; i < rounds; ++i) {
        values[(threadIdx.x + 32) % blockDim.x] = mine;
        meet();
        mine = values[threadIdx.x];
        meet();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}
KERNEL pass_by_syncthreads(int* out, int rounds) {
    pass_around(out, rounds, [] { __syncthreads(); });
}
KERNEL pass_by_barrier_object(int* out, int rounds) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    pass_around(out, rounds, [&] { barrier.arrive_and_wait(); });
}

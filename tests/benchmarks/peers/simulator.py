"""The kernels for Numba's CUDA simulator: a peer as peer.hpp has it. Runs where Numba is, without Warpgrade."""

import sys
import time

import numpy as np
from numba import cuda, float32


@cuda.jit
def matmul_naive(a, b, c, n):
    col, row = cuda.grid(2)
    total = float32(0)
    for k in range(n):
        total += a[row, k] * b[k, col]
    c[row, col] = total


@cuda.jit
def matmul_tiled(a, b, c, n):
    # The simulator tells shared arrays apart by their lines.
    a_tile = cuda.shared.array((16, 16), float32)
    b_tile = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for t in range(0, n, 16):
        a_tile[ty, tx] = a[row, t + tx]
        b_tile[ty, tx] = b[t + ty, col]
        cuda.syncthreads()
        for k in range(16):
            total += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()
    c[row, col] = total


@cuda.jit
def reduce_tree(numbers, sums, n):
    s = cuda.shared.array(256, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = numbers[i] if i < n else 0
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = s[0]


def noise(count, seed):
    values = np.empty(count, np.float32)
    for i in range(count):
        seed = (seed * 1664525 + 1013904223) % 2**32
        values[i] = (seed >> 8) * 2.0**-24
    return values


def multiply(kernel, n, seed):
    a, b = (cuda.to_device(noise(n * n, seed + i).reshape(n, n)) for i in range(2))
    c = cuda.device_array((n, n), np.float32)

    def run():
        kernel[(n // 16, n // 16), (16, 16)](a, b, c, n)
        return c

    return run


def reduce(n, seed):
    numbers = cuda.to_device(noise(n, seed))

    def run():
        source, left = numbers, n
        while left > 1:
            blocks = (left + 255) // 256
            sums = cuda.device_array(blocks, np.float32)
            reduce_tree[blocks, 256](source, sums, left)
            source, left = sums, blocks
        return source

    return run


def main():
    for line in sys.stdin:
        command, *words = line.split()
        answer = "ok"
        if command == "prepare":
            n, seed = int(words[1]), int(words[2])
            kernel = {"matmul_naive": matmul_naive, "matmul_tiled": matmul_tiled}.get(words[0])
            run = multiply(kernel, n, seed) if kernel else reduce(n, seed)
        elif command == "run":
            start = time.monotonic()
            result = run()
            answer = str(time.monotonic() - start)
        else:
            result.copy_to_host().tofile(words[0])
        print(answer, flush=True)


if __name__ == "__main__":
    main()

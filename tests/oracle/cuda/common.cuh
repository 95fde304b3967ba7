// What all kernels here share: one thread for each element, results row by row.
//
// A kernel's arguments are (a, b, out, n): inputs a[n], b[n] and out[rows][n]. `ROW(x)` stores the next row.
#pragma once
#include <cstdint>

#define KERNEL extern "C" __global__ void
#define BEGIN                                        \
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i >= n) return;                              \
    auto x = a[i];                                   \
    auto y = b[i];                                   \
    unsigned row = 0;                                \
    (void)y;
#define ROW(value) out[row++ * n + i] = (value);

// Batcher's odd-even merge sort of keys and values.
#include "native.h"

static inline void compare(uint *restrict ka, uint *restrict va, uint *restrict kb, uint *restrict vb, uint count,
                           uint dir) {
#pragma omp simd
    for (uint j = 0; j < count; j++) {
        uint a = ka[j], b = kb[j], x = va[j], y = vb[j];
        int swap = (a > b) == dir;
        ka[j] = swap ? b : a;
        kb[j] = swap ? a : b;
        va[j] = swap ? y : x;
        vb[j] = swap ? x : y;
    }
}

static inline void pass(uint *restrict key, uint *restrict val, uint n, uint size, uint stride, uint dir) {
    for (uint start = 0; start < n; start += size)
        if (stride == size / 2)
            compare(key + start, val + start, key + start + stride, val + start + stride, stride, dir);
        else
            for (uint at = start + stride; at + 2 * stride < start + size; at += 2 * stride)
                compare(key + at, val + at, key + at + stride, val + at + stride, stride, dir);
}

enum { NEAR = 4096 };  // elements that stay in the first cache while they are sorted

static void sizes(uint *restrict key, uint *restrict val, uint n, uint first, uint last, uint dir) {
    for (uint size = first; size <= last; size <<= 1)
        for (uint stride = size / 2; stride > 0; stride >>= 1)
            switch (stride) {  // small ones by their own loops
            case 1: pass(key, val, n, size, 1, dir); break;
            case 2: pass(key, val, n, size, 2, dir); break;
            case 4: pass(key, val, n, size, 4, dir); break;
            case 8: pass(key, val, n, size, 8, dir); break;
            default: pass(key, val, n, size, stride, dir);
            }
}

void run(uint *restrict key, uint *restrict val, const uint *restrict src_key, const uint *restrict src_val, uint n,
         uint dir) {
    memcpy(key, src_key, n * sizeof *key);
    memcpy(val, src_val, n * sizeof *val);
    uint near = MIN(NEAR, n);
    for (uint start = 0; start < n; start += near)
        sizes(key + start, val + start, near, 2, near, dir);
    sizes(key, val, n, 2 * near, n, dir);
}

#include "native.h"
enum { N = 1024, K = 32 };

// The same network, of words that hold a key (its bits in order) and a place. Strides below 8 are within vectors.
static inline __attribute__((always_inline)) void step(ull *restrict s, int size, int stride) {
    for (int base = 0; base < N; base += 2 * stride) {
        int descending = (base & size) == 0;
        ull *a = descending ? s + base : s + base + stride, *b = descending ? s + base + stride : s + base;
#pragma omp simd
        for (int i = 0; i < stride; i++) {
            ull x = a[i], y = b[i];
            a[i] = MAX(x, y);
            b[i] = MIN(x, y);
        }
    }
}

typedef ull Eight __attribute__((vector_size(64)));

static inline __attribute__((always_inline)) void short_step(Eight *restrict s, int size, int stride) {
    Eight lane = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int k = 0; k < N / 8; k++) {
        Eight x = s[k], y = __builtin_shuffle(x, lane ^ stride), i = lane + 8 * k;
        Eight greater = (Eight)(((i & stride) == 0) == ((i & size) == 0));
        Eight mine = (Eight)((Eight)(x > y) == greater);
        s[k] = (x & mine) | (y & ~mine);
    }
}

void run(const float *restrict values, float *restrict top, int *restrict where, int rows) {
    for (int row = 0; row < rows; row++) {
        ull s[N] __attribute__((aligned(64)));
        for (int i = 0; i < N; i++) {
            uint bits;
            memcpy(&bits, values + (long)row * N + i, 4);
            bits ^= bits >> 31 ? ~0u : 1u << 31;
            s[i] = (ull)bits << 32 | (N - 1 - i);
        }
        for (int size = 2; size <= N; size *= 2) {
            for (int stride = size / 2; stride >= 8; stride /= 2)
                step(s, size, stride);
            if (size >= 8)
                short_step((Eight *)s, size, 4);
            if (size >= 4)
                short_step((Eight *)s, size, 2);
            short_step((Eight *)s, size, 1);
        }
        for (int k = 0; k < K; k++) {
            int i = N - 1 - (int)(uint)s[k];
            where[row * K + k] = i;
            top[row * K + k] = values[(long)row * N + i];
        }
    }
}

// Adam with moments in bytes, 2048 numbers a scale; the nearest entries by eight halvings, without branches.
#include "native.h"

enum { BLOCK = 2048 };

// Of the nearest entry, the lower one of two that are as near.
static inline int nearest(const float *table, float x) {
    int low = 0;
#pragma GCC unroll 8
    for (int bit = 7; bit >= 0; bit--)
        low += table[low + (1 << bit)] < x ? 1 << bit : 0;
    int high = low < 255 ? low + 1 : 255;
    return x > (table[low] + table[high]) * 0.5f ? high : low;
}

void run(float *restrict p, const float *restrict g, uchar *restrict state1, uchar *restrict state2,
         float *restrict absmax1, float *restrict absmax2, const float *restrict t1, const float *restrict t2,
         float beta1, float beta2, float eps, float step_size, float correction2, float decay, float lr, int n) {
    float a[BLOCK], b[BLOCK];
    for (int first = 0; first < n; first += BLOCK) {
        int count = MIN(BLOCK, n - first);
        float scale1 = absmax1[first / BLOCK] * beta1, scale2 = absmax2[first / BLOCK] * beta2, max1 = 0, max2 = 0;
        float shrink = decay > 0 ? 1 - lr * decay : 1;
#pragma omp simd reduction(max : max1, max2)
        for (int i = 0; i < count; i++) {
            float v = g[first + i];
            a[i] = t1[state1[first + i]] * scale1 + (1 - beta1) * v;
            b[i] = t2[state2[first + i]] * scale2 + (1 - beta2) * v * v;
            max1 = fabsf(a[i]) > max1 ? fabsf(a[i]) : max1;
            max2 = b[i] > max2 ? b[i] : max2;
        }
        absmax1[first / BLOCK] = max1;
        absmax2[first / BLOCK] = max2;
        float r1 = 1 / max1, r2 = 1 / max2;
        int c1[BLOCK], c2[BLOCK];
#pragma omp simd
        for (int i = 0; i < count; i++)
            p[first + i] = (p[first + i] + step_size * (a[i] / (sqrtf(b[i]) + correction2 * eps))) * shrink;
#pragma omp simd
        for (int i = 0; i < count; i++) {
            int c = nearest(t1, a[i] * r1), sign = a[i] > 0 ? 1 : -1;
            c1[i] = t1[c] * a[i] < 0 ? c + sign : c;
        }
#pragma omp simd
        for (int i = 0; i < count; i++)
            c2[i] = nearest(t2, b[i] * r2);
        for (int i = 0; i < count; i++) {
            state1[first + i] = c1[i];
            state2[first + i] = c2[i];
        }
    }
}

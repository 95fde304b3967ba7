// LogUp's running sum in BabyBear: inverses of eight at a time by one power, 16 such groups side by side.
#include "native.h"

#define P 0x78000001u
#define INV 0x88000001u
#define ONE 0x0ffffffeu
enum { EACH = 8, W = 16 };

static inline uint add(uint a, uint b) {
    uint s = a + b, r = s - P;
    return MIN(s, r);
}

static inline uint mul(uint a, uint b) {
    ull t = (ull)a * b;
    uint m = (uint)t * INV, u = (ull)m * P >> 32, d = (uint)(t >> 32) - u, e = d + P;
    return MIN(d, e);
}

static void group(const uint *restrict columns, const uint *restrict mult, uint *restrict terms, uint alpha,
                  uint beta, int n, int first, int lanes) {
    uint value[EACH][W], prefix[EACH][W], product[W], inverse[W];
    for (int l = 0; l < W; l++)
        product[l] = inverse[l] = ONE;
    for (int i = 0; i < EACH; i++)
#pragma omp simd
        for (int l = 0; l < W; l++) {
            int at = MIN(first + l * EACH + i, n - 1);
            uint sum = columns[3 * n + at];
            sum = add(mul(sum, alpha), columns[2 * n + at]);
            sum = add(mul(sum, alpha), columns[n + at]);
            sum = add(mul(sum, alpha), columns[at]);
            value[i][l] = add(beta, sum);
            prefix[i][l] = product[l];
            product[l] = mul(product[l], value[i][l] ? value[i][l] : ONE);
        }
    for (uint e = P - 2; e; e >>= 1) {
        if (e & 1)
#pragma omp simd
            for (int l = 0; l < W; l++)
                inverse[l] = mul(inverse[l], product[l]);
#pragma omp simd
        for (int l = 0; l < W; l++)
            product[l] = mul(product[l], product[l]);
    }
    for (int i = EACH - 1; i >= 0; i--)
        for (int l = 0; l < W; l++) {
            int at = first + l * EACH + i;
            if (at < n)
                terms[at] = value[i][l] ? mul(mul(inverse[l], prefix[i][l]), mult[at]) : 0;
            inverse[l] = mul(inverse[l], value[i][l] ? value[i][l] : ONE);
        }
}

void run(const uint *restrict columns, const uint *restrict mult, uint *restrict terms, uint alpha, uint beta, int n) {
    for (int first = 0; first < n; first += EACH * W)
        group(columns, mult, terms, alpha, beta, n, first, W);
    uint sum = 0;
    for (int i = 0; i < n; i++)
        terms[i] = sum = add(sum, terms[i]);
}

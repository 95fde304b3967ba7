// Cyclic products of polynomials modulo 2^64 - 2^32 + 1 by number-theoretic transforms, without bit reversal
#include "native.h"
enum { N = 4096 };
static const ull P = 0xffffffff00000001ull, EPSILON = 0xffffffffull;

static inline ull add(ull a, ull b) {
    ull sum = a + b;
    sum += -(ull)(sum < a) & EPSILON;
    return sum - (-(ull)(sum >= P) & P);
}

static inline ull sub(ull a, ull b) { return a - b + (-(ull)(a < b) & P); }

static inline ull mul(ull a, ull b) {
    unsigned __int128 wide = (unsigned __int128)a * b;
    ull low = wide, high = wide >> 64, top = high >> 32, middle = high & EPSILON;
    ull t = low - top - (-(ull)(low < top) & EPSILON);
    ull r = t + ((middle << 32) - middle);
    r += -(ull)(r < t) & EPSILON;
    return r - (-(ull)(r >= P) & P);
}

static void forward(ull *restrict x, const ull *restrict roots) {
    for (int half = N / 2; half; half /= 2)
        for (int start = 0; start < N; start += 2 * half)
            for (int j = 0; j < half; j++) {
                ull a = x[start + j], b = x[start + j + half];
                x[start + j] = add(a, b);
                x[start + j + half] = mul(sub(a, b), roots[j * (N / 2 / half)]);
            }
}

static void backward(ull *restrict x, const ull *restrict roots) {
    for (int half = 1; half < N; half *= 2)
        for (int start = 0; start < N; start += 2 * half)
            for (int j = 0; j < half; j++) {
                ull a = x[start + j], b = mul(x[start + j + half], roots[j * (N / 2 / half)]);
                x[start + j] = add(a, b);
                x[start + j + half] = sub(a, b);
            }
}

void run(const ull *restrict a, const ull *restrict b, const ull *restrict roots, const ull *restrict inverse_roots,
         ull *restrict product, ull one_nth, int batch) {
    ull x[N], y[N];
    for (int p = 0; p < batch; p++) {
        memcpy(x, a + (size_t)p * N, sizeof x);
        memcpy(y, b + (size_t)p * N, sizeof y);
        forward(x, roots);
        forward(y, roots);
        for (int i = 0; i < N; i++)
            x[i] = mul(x[i], y[i]);
        backward(x, inverse_roots);
        for (int i = 0; i < N; i++)
            product[(size_t)p * N + i] = mul(x[i], one_nth);
    }
}

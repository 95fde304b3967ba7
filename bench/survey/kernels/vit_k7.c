// Viterbi's decoder, K = 7: all states of a step as vectors, a byte for each survivor.
#include "native.h"
enum { STATES = 64 };

static inline int parity(uint x) {
    return __builtin_parity(x);
}

void run(const signed char *restrict soft, uchar *restrict bytes, int *restrict scores, int frames, int steps) {
    int sign_a[32], sign_b[32];  // of the first of two ways to a state below 32; the three others are these or less them
    for (int s = 0; s < 32; s++) {
        sign_a[s] = parity(2 * s & 0x79) ? -1 : 1;
        sign_b[s] = parity(2 * s & 0x5b) ? -1 : 1;
    }
    uchar(*survivor)[STATES] = malloc((long)steps * STATES);
    for (int frame = 0; frame < frames; frame++) {
        int metric[STATES], other[STATES];
        for (int s = 0; s < STATES; s++)
            metric[s] = s ? -100000 : 0;
        const signed char *symbols = soft + 2L * frame * steps;
        for (int t = 0; t < steps; t++) {
            int x = symbols[2 * t], y = symbols[2 * t + 1];
            uchar *low = survivor[t], *high = low + 32;
#pragma omp simd
            for (int s = 0; s < 32; s++) {
                // both polynomials have the first and the last bit, so either turns both signs
                int d = sign_a[s] * x + sign_b[s] * y, even = metric[2 * s], odd = metric[2 * s + 1];
                int l0 = even + d, l1 = odd - d, h0 = even - d, h1 = odd + d;
                other[s] = l1 > l0 ? l1 : l0;
                other[s + 32] = h1 > h0 ? h1 : h0;
                low[s] = l1 > l0;
                high[s] = h1 > h0;
            }
            memcpy(metric, other, sizeof metric);
        }
        scores[frame] = metric[0];
        int state = 0, bits = steps - 6;
        uchar *out = bytes + (long)frame * (bits / 8);
        memset(out, 0, bits / 8);
        for (int t = steps - 1; t >= 0; t--) {
            if (t < bits)
                out[t >> 3] |= (state >> 5) << (7 - (t & 7));
            state = (state << 1 & 63) | survivor[t][state];
        }
    }
    free(survivor);
}

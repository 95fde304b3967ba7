#include "native.h"

typedef struct {
    int in[3];
    uchar op, pad[3];
} Gate;

#define EACH(expression)                                                                                               \
    for (int w = 0; w < words; w++) {                                                                                  \
        ull a = A[w], b = B[w], c = C[w], v = (expression);                                                            \
        (void)a, (void)b, (void)c;                                                                                     \
        flips += __builtin_popcountll(out[w] ^ v);                                                                     \
        out[w] = v;                                                                                                    \
    }                                                                                                                  \
    break

void run(const Gate *restrict gates, ull *restrict nets, uint *restrict toggles, const int *restrict data, int sources,
         int inputs, int flops, int total, int words, int cycles) {
    for (int t = 0; t < cycles; t++) {
        for (int g = sources; g < total; g++) {
            const Gate *gate = gates + g;
            const ull *A = nets + (size_t)gate->in[0] * words, *B = nets + (size_t)gate->in[1] * words,
                      *C = nets + (size_t)gate->in[2] * words;
            ull *restrict out = nets + (size_t)g * words;
            uint flips = 0;
            switch (gate->op) {
            case 0:
                EACH(a);
            case 1:
                EACH(~a);
            case 2:
                EACH(a & b);
            case 3:
                EACH(~(a & b));
            case 4:
                EACH(a | b);
            case 5:
                EACH(~(a | b));
            case 6:
                EACH(a ^ b);
            case 7:
                EACH(~(a ^ b));
            case 8:
                EACH((a & c) | (b & ~c));
            case 9:
                EACH(~((a & b) | c));
            case 10:
                EACH(~((a | b) & c));
            case 11:
                EACH((a & b) | (a & c) | (b & c));
            }
            toggles[g] += flips;
        }
        for (int f = 0; f < flops; f++)
            memcpy(nets + (size_t)(inputs + f) * words, nets + (size_t)data[f] * words, words * sizeof(ull));
        for (int k = 0; k < inputs * words; k++) {
            ull s = nets[k];
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            nets[k] = s;
        }
    }
}

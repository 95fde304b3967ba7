#include "native.h"

#define S 64

void run(const float *restrict move, const float *restrict emit, const uchar *restrict seen,
         uchar *restrict from, float *restrict score, int sequences, int length) {
    for (int q = 0; q < sequences; q++) {
        const uchar *o = seen + q * length;
        float last[S], best[S];
        int which[S];
        for (int s = 0; s < S; s++)
            last[s] = emit[o[0] * S + s];
        for (int t = 1; t < length; t++) {
            for (int s = 0; s < S; s++)
                best[s] = -1e30f, which[s] = 0;
            for (int k = 0; k < S; k++)
                for (int s = 0; s < S; s++) {
                    float v = last[k] + move[k * S + s];
                    which[s] = v > best[s] ? k : which[s];
                    best[s] = v > best[s] ? v : best[s];
                }
            for (int s = 0; s < S; s++) {
                last[s] = best[s] + emit[o[t] * S + s];
                from[((long)q * length + t) * S + s] = which[s];
            }
        }
        for (int s = 0; s < S; s++)
            score[q * S + s] = last[s];
    }
}

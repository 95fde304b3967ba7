#include "native.h"

void run(const float *restrict llr, const int *restrict bit_of_edge, const int *restrict check_start,
         const int *restrict bit_start, const int *restrict bit_edges, float *restrict to_check,
         float *restrict to_bit, uchar *restrict hard, int bits, int checks, int edges, float factor, int frames,
         int rounds) {
    for (int frame = 0; frame < frames; frame++) {
        const float *seen = llr + (long)frame * bits;
        float *q = to_check + (long)frame * edges, *r = to_bit + (long)frame * edges;
        for (int e = 0; e < edges; e++)
            q[e] = seen[bit_of_edge[e]];
        for (int round = 0; round < rounds; round++) {
            for (int c = 0; c < checks; c++) {
                float least = 1e30f, second = 1e30f;
                int which = -1, negative = 0;
                for (int e = check_start[c]; e < check_start[c + 1]; e++) {
                    float size = fabsf(q[e]);
                    negative ^= q[e] < 0;
                    if (size < least) {
                        second = least;
                        least = size;
                        which = e;
                    } else if (size < second)
                        second = size;
                }
                least *= factor;
                second *= factor;
                for (int e = check_start[c]; e < check_start[c + 1]; e++) {
                    float size = e == which ? second : least;
                    r[e] = negative ^ (q[e] < 0) ? -size : size;
                }
            }
            for (int b = 0; b < bits; b++) {
                float total = seen[b];
                for (int k = bit_start[b]; k < bit_start[b + 1]; k++)
                    total += r[bit_edges[k]];
                for (int k = bit_start[b]; k < bit_start[b + 1]; k++)
                    q[bit_edges[k]] = total - r[bit_edges[k]];
                hard[(long)frame * bits + b] = total < 0;
            }
        }
    }
}

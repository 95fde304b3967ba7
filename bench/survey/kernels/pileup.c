#include "native.h"

typedef struct {
    int position, first_op, ops, first_base;
} Read;

void run(const Read *restrict reads, const uint *restrict cigar, const uchar *restrict packed,
         const uchar *restrict quality, uint *restrict counts, uint *restrict weight, uint *restrict gaps,
         const uchar *restrict reference, uchar *restrict genotype, float *restrict score, int n, int min_quality,
         int length, float het_prior) {
    for (int i = 0; i < n; i++) {
        Read read = reads[i];
        int ref = read.position, base = read.first_base;
        for (int k = 0; k < read.ops; k++) {
            uint op = cigar[read.first_op + k];
            int span = op >> 4;
            switch (op & 15) {
            case 0:
                for (int j = 0; j < span; j++, ref++, base++) {
                    int q = quality[base], at = 4 * ref + (packed[base >> 2] >> (2 * (base & 3)) & 3);
                    if (q >= min_quality)
                        counts[at]++, weight[at] += q;
                }
                break;
            case 1:
            case 4:
                base += span;
                break;
            case 2:
                for (int j = 0; j < span; j++)
                    gaps[ref + j]++;
                ref += span;
                break;
            case 3:
                ref += span;
            }
        }
    }
    for (int p = 0; p < length; p++) {
        float count[4], hit[4], miss[4], depth = 0, all_miss = 0;
        for (int b = 0; b < 4; b++)
            depth += count[b] = counts[4 * p + b];
        genotype[p] = 255;
        score[p] = 0;
        if (depth < 4 || gaps[p] > depth)
            continue;
        for (int b = 0; b < 4; b++) {
            hit[b] = miss[b] = 0;
            if (count[b] > 0) {
                float error = expf(-0.230258509f * (weight[4 * p + b] / count[b]));
                hit[b] = count[b] * log1pf(-error);
                miss[b] = count[b] * logf(error / 3);
            }
            all_miss += miss[b];
        }
        float best = -1e30f, second = -1e30f;
        for (int a = 0; a < 4; a++)
            for (int b = a; b < 4; b++) {
                int ref = (a == reference[p]) | (b == reference[p]);
                float like = a == b ? all_miss - miss[a] + hit[a] + (ref ? 0 : 2 * het_prior)
                                    : all_miss - miss[a] - miss[b] - 0.6931472f * (count[a] + count[b]) +
                                          (ref ? het_prior : 3 * het_prior);
                if (like > best) {
                    second = best;
                    best = like;
                    genotype[p] = a << 2 | b;
                } else if (like > second)
                    second = like;
            }
        score[p] = best - second;
    }
}

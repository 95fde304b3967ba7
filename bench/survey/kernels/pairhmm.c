// A pair hidden Markov model: 16 haplotypes side by side against a read, columns in the inner loops; pairs that get
// too small again in double precision.
#include "native.h"
enum { W = 16, MOST = 512 };

typedef struct {
    float mm, gap_m, mi, ii, md, dd, error;
} Step;

static double again(const char *restrict read, const Step *restrict steps, int rows, const char *restrict hap,
                    int columns) {
    double m[MOST] = {0}, i[MOST] = {0}, d[MOST], sum = 0;
    for (int j = 0; j <= columns; j++)
        d[j] = 1e300 / columns;
    for (int row = 0; row < rows; row++) {
        Step s = steps[row];
        double right = 1 - (double)s.error, wrong = (double)s.error / 3, om = m[0], oi = i[0], od = d[0];
        m[0] = i[0] = d[0] = 0;
        for (int j = 1; j <= columns; j++) {
            double prior = read[row] == hap[j - 1] || read[row] == 'N' || hap[j - 1] == 'N' ? right : wrong;
            double um = m[j], ui = i[j], ud = d[j];
            m[j] = prior * (om * s.mm + (oi + od) * s.gap_m);
            i[j] = um * s.mi + ui * s.ii;
            d[j] = m[j - 1] * s.md + d[j - 1] * s.dd;
            om = um, oi = ui, od = ud;
        }
    }
    for (int j = 1; j <= columns; j++)
        sum += m[j] + i[j];
    return log10(sum) - 300;
}

void run(const char *restrict reads, const Step *restrict steps, const int *restrict read_start,
         const char *restrict haplotypes, const int *restrict hap_start, float *restrict likelihood, int n_reads,
         int n_haps) {
    const float initial = 1.329228e36f;
    static float m[MOST][W], in[MOST][W], de[MOST][W];
    static char text[MOST][W];
    for (int first = 0; first < n_haps; first += W) {
        int lanes = MIN(W, n_haps - first), length[W], longest = 0;
        for (int l = 0; l < W; l++) {
            int h = first + MIN(l, lanes - 1);
            length[l] = hap_start[h + 1] - hap_start[h];
            longest = MAX(longest, length[l]);
            for (int j = 0; j < MOST; j++)
                text[j][l] = j < length[l] ? haplotypes[hap_start[h] + j] : 0;
        }
        for (int r = 0; r < n_reads; r++) {
            const char *read = reads + read_start[r];
            const Step *step = steps + read_start[r];
            int rows = read_start[r + 1] - read_start[r];
            for (int j = 0; j <= longest; j++)
                for (int l = 0; l < W; l++)
                    m[j][l] = in[j][l] = 0, de[j][l] = initial / length[l];
            for (int row = 0; row < rows; row++) {
                Step s = step[row];
                char base = read[row];
                float right = 1 - s.error, wrong = s.error / 3, om[W], oi[W], od[W], lm[W], ld[W];
                memcpy(om, m[0], sizeof om), memcpy(oi, in[0], sizeof oi), memcpy(od, de[0], sizeof od);
                memset(m[0], 0, sizeof om), memset(in[0], 0, sizeof om), memset(de[0], 0, sizeof om);
                memset(lm, 0, sizeof lm), memset(ld, 0, sizeof ld);
                for (int j = 1; j <= longest; j++) {
#pragma omp simd
                    for (int l = 0; l < W; l++) {
                        char other = text[j - 1][l];
                        float prior = (base == other) | (base == 'N') | (other == 'N') ? right : wrong;
                        float um = m[j][l], ui = in[j][l], ud = de[j][l];
                        float nm = prior * (om[l] * s.mm + (oi[l] + od[l]) * s.gap_m);
                        float nd = lm[l] * s.md + ld[l] * s.dd;
                        m[j][l] = nm, in[j][l] = um * s.mi + ui * s.ii, de[j][l] = nd;
                        lm[l] = nm, ld[l] = nd, om[l] = um, oi[l] = ui, od[l] = ud;
                    }
                }
            }
            float total[W] = {0};
            for (int j = 1; j <= longest; j++)
                for (int l = 0; l < W; l++)
                    total[l] += j <= length[l] ? m[j][l] + in[j][l] : 0;
            for (int l = 0; l < lanes; l++) {
                int h = first + l;
                likelihood[r * n_haps + h] =
                    total[l] < 1e-28f ? again(read, step, rows, haplotypes + hap_start[h], length[l])
                                      : log10f(total[l]) - log10f(initial);
            }
        }
    }
}

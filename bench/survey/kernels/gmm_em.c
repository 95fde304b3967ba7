// Expectation and maximisation of a mixture of Gaussians: points by 64, side by side, for which all components'
// densities, shares and moments are worked out while they are near.
#include "native.h"
enum { DIM = 4, TRIANGLE = 10, MOMENTS = 15, MAX_COMPONENTS = 16, W = 64 };

#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"))) extern float logf(float);
#endif

typedef struct {
    float log_norm, mean[DIM], chol[TRIANGLE];
} Component;

void run(const float *restrict points, float *restrict weight, float *restrict mean, float *restrict covariance,
         float *restrict share, double *restrict log_likelihood, int n, int components, float ridge, int rounds) {
    for (int round = 0; round < rounds; round++) {
        Component model[MAX_COMPONENTS];
        double moments[MAX_COMPONENTS][MOMENTS] = {0}, likelihood = 0;
        for (int k = 0; k < components; k++) {
            Component *c = model + k;
            float sum_log = 0;
            for (int i = 0; i < DIM; i++) {
                float *row = c->chol + i * (i + 1) / 2;
                c->mean[i] = mean[k * DIM + i];
                for (int j = 0; j <= i; j++) {
                    float *other = c->chol + j * (j + 1) / 2, s = covariance[(k * DIM + i) * DIM + j];
                    for (int m = 0; m < j; m++)
                        s -= row[m] * other[m];
                    if (i == j) {
                        float d = sqrtf(s);
                        sum_log += logf(d);
                        row[i] = 1 / d;
                    } else
                        row[j] = s * other[j];
                }
            }
            c->log_norm = logf(weight[k]) - sum_log - 0.5f * DIM * 1.8378770664f;
        }
        for (int first = 0; first < n; first += W) {
            int lanes = MIN(W, n - first);
            float x[DIM][W] = {0}, p[MAX_COMPONENTS][W], best[W], sum[W] = {0}, part = 0;
            for (int l = 0; l < lanes; l++)
                for (int d = 0; d < DIM; d++)
                    x[d][l] = points[(long)(first + l) * DIM + d];
            for (int l = 0; l < W; l++)
                best[l] = -INFINITY;
            for (int k = 0; k < components; k++) {
                Component c = model[k];
                const float *h = c.chol;
#pragma omp simd
                for (int l = 0; l < W; l++) {
                    float y0 = (x[0][l] - c.mean[0]) * h[0];
                    float y1 = (x[1][l] - c.mean[1] - h[1] * y0) * h[2];
                    float y2 = (x[2][l] - c.mean[2] - h[3] * y0 - h[4] * y1) * h[5];
                    float y3 = (x[3][l] - c.mean[3] - h[6] * y0 - h[7] * y1 - h[8] * y2) * h[9];
                    float d = c.log_norm - 0.5f * (y0 * y0 + y1 * y1 + y2 * y2 + y3 * y3);
                    p[k][l] = d;
                    best[l] = MAX(best[l], d);
                }
            }
            for (int k = 0; k < components; k++)
#pragma omp simd
                for (int l = 0; l < W; l++) {
                    p[k][l] = expf(p[k][l] - best[l]);
                    sum[l] += p[k][l];
                }
            float logs[W];
#pragma omp simd
            for (int l = 0; l < W; l++) {
                logs[l] = best[l] + logf(sum[l]);
                sum[l] = 1 / sum[l];
            }
            for (int l = 0; l < lanes; l++)
                part += logs[l];
            likelihood += part;
            for (int k = 0; k < components; k++) {
                float *r = p[k], s[MOMENTS] = {0};
                for (int l = 0; l < W; l++)
                    r[l] = l < lanes ? r[l] * sum[l] : 0;
                memcpy(share + (long)k * n + first, r, lanes * sizeof *r);
                float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0, s8 = 0, s9 = 0, s10 = 0,
                      s11 = 0, s12 = 0, s13 = 0, s14 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14)
                for (int l = 0; l < W; l++) {
                    float a = x[0][l], b = x[1][l], c = x[2][l], d = x[3][l];
                    float ra = r[l] * a, rb = r[l] * b, rc = r[l] * c, rd = r[l] * d;
                    s0 += r[l], s1 += ra, s2 += rb, s3 += rc, s4 += rd;
                    s5 += ra * a, s6 += rb * a, s7 += rb * b, s8 += rc * a, s9 += rc * b, s10 += rc * c;
                    s11 += rd * a, s12 += rd * b, s13 += rd * c, s14 += rd * d;
                }
                float parts[MOMENTS] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14};
                for (int m = 0; m < MOMENTS; m++)
                    moments[k][m] += parts[m];
            }
        }
        *log_likelihood = likelihood;
        for (int k = 0; k < components; k++) {
            double *m = moments[k], count = m[0] + 1e-8, centre[DIM];
            weight[k] = count / n;
            for (int i = 0; i < DIM; i++) {
                centre[i] = m[1 + i] / count;
                mean[k * DIM + i] = centre[i];
            }
            for (int i = 0, at = 1 + DIM; i < DIM; i++)
                for (int j = 0; j <= i; j++) {
                    float c = (float)(m[at++] / count - centre[i] * centre[j]) + (i == j ? ridge : 0);
                    covariance[(k * DIM + i) * DIM + j] = covariance[(k * DIM + j) * DIM + i] = c;
                }
        }
    }
}

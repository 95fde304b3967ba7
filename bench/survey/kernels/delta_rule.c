// The gated delta rule: a head's state stays in the cache, its columns are vectors.
#include "native.h"

enum { DK = 64 };

void run(const _Float16 *restrict q, const _Float16 *restrict k, const _Float16 *restrict v,
         const float *restrict gate, const float *restrict beta, float *restrict state, _Float16 *restrict out,
         int heads, int tokens, int dv, float scale, int batch) {
    float known[256], o[256];
    for (int b = 0; b < batch; b++)
        for (int h = 0; h < heads; h++) {
            float *restrict s = state + ((long)b * heads + h) * DK * dv;
            for (int t = 0; t < tokens; t++) {
                long at = ((long)b * tokens + t) * heads + h;
                float qf[DK], kf[DK], qq = 0, kk = 0;
                for (int i = 0; i < DK; i++) {
                    qf[i] = q[at * DK + i];
                    kf[i] = k[at * DK + i];
                }
#pragma omp simd reduction(+ : qq, kk)
                for (int i = 0; i < DK; i++) {
                    qq += qf[i] * qf[i];
                    kk += kf[i] * kf[i];
                }
                qq = scale / sqrtf(qq + 1e-6f);
                kk = 1 / sqrtf(kk + 1e-6f);
                for (int i = 0; i < DK; i++) {
                    qf[i] *= qq;
                    kf[i] *= kk;
                }
                float g = expf(gate[at]), rate = 1 / (1 + expf(-beta[at]));
                for (int c = 0; c < dv; c++)
                    known[c] = o[c] = 0;
                for (int i = 0; i < DK; i++)
#pragma omp simd
                    for (int c = 0; c < dv; c++) {
                        s[i * dv + c] *= g;
                        known[c] += s[i * dv + c] * kf[i];
                    }
                for (int c = 0; c < dv; c++)
                    known[c] = ((float)v[at * dv + c] - known[c]) * rate;
                for (int i = 0; i < DK; i++)
#pragma omp simd
                    for (int c = 0; c < dv; c++) {
                        s[i * dv + c] += kf[i] * known[c];
                        o[c] += s[i * dv + c] * qf[i];
                    }
                for (int c = 0; c < dv; c++)
                    out[at * dv + c] = o[c];
            }
        }
}

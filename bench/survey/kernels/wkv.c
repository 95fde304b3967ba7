// The recurrence of RWKV forwards and backwards, 32 channels side by side.
#include "native.h"
enum { W = 32, MOST = 256 };

// Without special cases, that libmvec would leave to scalar code.
#define BELOW(x) ((x) < -80 ? -80 : (x))
#define LOOP _Pragma("omp simd") for (int i = 0; i < W; i++)

void run(const float *restrict w_, const float *restrict u_, const float *restrict k_, const float *restrict v_,
         const float *restrict gy_, float *restrict y_, float *restrict gw_, float *restrict gu_, float *restrict gk_,
         float *restrict gv_, int T, int C, int B) {
    static float y[MOST][W], z[MOST][W], ez[MOST][W], m[MOST][W];
    for (int b = 0; b < B; b++)
        for (int c = 0; c < C; c += W) {
            float w[W], p[W] = {0}, q[W] = {0}, o[W], dp[W] = {0}, dq[W] = {0}, gw[W] = {0}, gu[W] = {0};
            const float *u = u_ + c;
            long offset = (long)b * T * C + c;
            LOOP w[i] = -expf(w_[c + i]);
            LOOP o[i] = -1e38f;
            for (int t = 0; t < T; t++) {
                long at = offset + (long)t * C;
                const float *restrict k = k_ + at, *restrict v = v_ + at, *restrict gy = gy_ + at;
                float *restrict out = y_ + at, a[W], e[W], a2[W], e2[W];
                LOOP {
                    float uk = u[i] + k[i], next = o[i] > uk ? o[i] : uk, d = o[i] - next;
                    a[i] = BELOW(d);
                    d = uk - next;
                    m[t][i] = d;
                    e[i] = BELOW(d);
                    float wo = w[i] + o[i];
                    next = wo > k[i] ? wo : k[i];
                    d = wo - next;
                    a2[i] = BELOW(d);
                    d = k[i] - next;
                    e2[i] = BELOW(d);
                    o[i] = next;
                }
                LOOP a[i] = expf(a[i]);
                LOOP e[i] = expf(e[i]);
                LOOP a2[i] = expf(a2[i]);
                LOOP e2[i] = expf(e2[i]);
                LOOP {
                    float inverse = 1 / (a[i] * q[i] + e[i]), r = (a[i] * p[i] + e[i] * v[i]) * inverse;
                    out[i] = y[t][i] = r;
                    z[t][i] = inverse;
                    ez[t][i] = e[i];
                    gw[i] += gy[i] * (dp[i] - dq[i] * r) * inverse * a[i];
                    gu[i] += gy[i] * (v[i] - r) * e[i] * inverse;
                    dp[i] = a2[i] * (p[i] + dp[i]);
                    dq[i] = a2[i] * (q[i] + dq[i]);
                    p[i] = a2[i] * p[i] + e2[i] * v[i];
                    q[i] = a2[i] * q[i] + e2[i];
                }
            }
            float gp[W] = {0}, gq[W] = {0};
            LOOP o[i] = -1e38f;
            for (int t = T - 1; t >= 0; t--) {
                long at = offset + (long)t * C;
                const float *restrict k = k_ + at, *restrict v = v_ + at, *restrict gy = gy_ + at;
                float *restrict gk = gk_ + at, *restrict gv = gv_ + at, e[W], a2[W], e2[W];
                LOOP {
                    float d = k[i] + o[i];
                    e[i] = BELOW(d);
                    float wo = w[i] + o[i], mine = m[t][i] - k[i] - u[i], next = wo > mine ? wo : mine;
                    d = wo - next;
                    a2[i] = BELOW(d);
                    d = mine - next;
                    e2[i] = BELOW(d);
                    o[i] = next;
                }
                LOOP e[i] = expf(e[i]);
                LOOP a2[i] = expf(a2[i]);
                LOOP e2[i] = expf(e2[i]);
                LOOP {
                    float a = gy[i] * z[t][i] * ez[t][i];
                    gk[i] = a * (v[i] - y[t][i]) + e[i] * (gp[i] * v[i] + gq[i]);
                    gv[i] = a + e[i] * gp[i];
                    float g = gy[i] * z[t][i] * e2[i];
                    gp[i] = a2[i] * gp[i] + g;
                    gq[i] = a2[i] * gq[i] - g * y[t][i];
                }
            }
            LOOP gw_[(long)b * C + c + i] = gw[i] * w[i];
            LOOP gu_[(long)b * C + c + i] = gu[i];
        }
}

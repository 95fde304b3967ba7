// Compositing samples along rays and its gradient; exponentials of 64 samples side by side. What the rays do not
// reach stays as it is.
#include "native.h"

enum { PART = 64 };

void run(const float *restrict sigmas, const float *restrict rgbs, const float *restrict deltas,
         const float *restrict ts, const int64_t *restrict rays, const float *restrict d_opacity,
         const float *restrict d_depth, const float *restrict d_rgb, int64_t *restrict total,
         float *restrict opacity, float *restrict depth, float *restrict rgb, float *restrict ws,
         float *restrict d_sigmas, float *restrict d_rgbs, float threshold, int n) {
    for (int i = 0; i < n; i++) {
        long ray = rays[3 * i], start = rays[3 * i + 1], count = rays[3 * i + 2], reached = 0, end = 0;
        float T = 1, R = rgb[3 * ray], G = rgb[3 * ray + 1], B = rgb[3 * ray + 2], O = opacity[ray], D = depth[ray];
        for (int done = 0; reached < count && !done;) {
            int m = MIN(PART, count - reached);
            float left[PART];
#pragma omp simd
            for (int k = 0; k < m; k++)
                left[k] = expf(-sigmas[start + reached + k] * deltas[start + reached + k]);
            int k = 0;
            for (; k < m; k++) {
                long s = start + reached + k;
                float w = (1 - left[k]) * T;
                R += w * rgbs[3 * s];
                G += w * rgbs[3 * s + 1];
                B += w * rgbs[3 * s + 2];
                D += w * ts[s];
                O += w;
                ws[s] = w;
                T *= left[k];
                end = reached + k + 1;
                if (T <= threshold) {
                    done = 1;
                    break;
                }
            }
            reached += k;
        }
        total[ray] = reached;
        rgb[3 * ray] = R;
        rgb[3 * ray + 1] = G;
        rgb[3 * ray + 2] = B;
        opacity[ray] = O;
        depth[ray] = D;
        float dr = d_rgb[3 * ray], dg = d_rgb[3 * ray + 1], db = d_rgb[3 * ray + 2], dd = d_depth[ray];
        float rest = d_opacity[ray] * (1 - O), later = dr * R + dg * G + db * B + dd * D;
        T = 1;
        for (long s = start; s < start + end; s++) {
            float w = ws[s], worth = dr * rgbs[3 * s] + dg * rgbs[3 * s + 1] + db * rgbs[3 * s + 2] + dd * ts[s];
            T -= w;
            later -= w * worth;
            d_rgbs[3 * s] = dr * w;
            d_rgbs[3 * s + 1] = dg * w;
            d_rgbs[3 * s + 2] = db * w;
            d_sigmas[s] = deltas[s] * (worth * T - later + rest);
        }
    }
}

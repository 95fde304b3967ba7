// Non-local means, sixteen pixels side by side whose own patches are kept, over a picture with its borders repeated
// around it.
#include "native.h"

enum { P = 2, S = 5, R = P + S, PATCH = 2 * P + 1, W = 16 };

void run(const uchar *restrict image, float *restrict out, int w, int h, float sigma, float strength) {
    int stride = (w + W - 1) / W * W + 2 * R;
    float *restrict wide = malloc((size_t)stride * (h + 2 * R) * sizeof(float));
    for (int y = -R; y < h + R; y++)
        for (int x = -R; x < stride - R; x++)
            wide[(y + R) * stride + x + R] =
                image[MIN(MAX(y, 0), h - 1) * w + MIN(MAX(x, 0), w - 1)] / 255.0f;
    float two_sigma2 = 2 * sigma * sigma, inv_h2 = 1 / (strength * strength);
    for (int y = 0; y < h; y++)
        for (int x0 = 0; x0 < w; x0 += W) {
            const float *centre = wide + (y + R) * stride + x0 + R;
            float own[PATCH * PATCH][W], sum[W] = {0}, weights[W] = {0};
            for (int py = -P; py <= P; py++)
                for (int px = -P; px <= P; px++)
                    memcpy(own[(py + P) * PATCH + px + P], centre + py * stride + px, sizeof own[0]);
            for (int dy = -S; dy <= S; dy++)
                for (int dx = -S; dx <= S; dx++) {
                    const float *other = centre + dy * stride + dx;
                    float distance[W] = {0};
                    for (int py = 0; py < PATCH; py++) {
                        const float *a = own[py * PATCH], *b = other + (py - P) * stride - P;
#pragma omp simd
                        for (int i = 0; i < W; i++) {
                            float d0 = a[i] - b[i], d1 = a[W + i] - b[i + 1], d2 = a[2 * W + i] - b[i + 2];
                            float d3 = a[3 * W + i] - b[i + 3], d4 = a[4 * W + i] - b[i + 4];
                            distance[i] += d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3 + d4 * d4;
                        }
                    }
#pragma omp simd
                    for (int i = 0; i < W; i++) {
                        float d = distance[i] * (1.0f / (PATCH * PATCH)) - two_sigma2;
                        float weight = expf(-(d > 0 ? d : 0) * inv_h2);
                        sum[i] += weight * other[i];
                        weights[i] += weight;
                    }
                }
            for (int i = 0; i < MIN(W, w - x0); i++)
                out[y * w + x0 + i] = sum[i] / weights[i];
        }
    free(wide);
}

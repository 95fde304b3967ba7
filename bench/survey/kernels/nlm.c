// Non-local means, a row and an offset at a time, over a picture with its borders repeated around it.
#include "native.h"

enum { P = 2, S = 5, R = P + S };

void run(const uchar *restrict image, float *restrict out, int w, int h, float sigma, float strength) {
    int stride = w + 2 * R;
    float *restrict wide = malloc((size_t)stride * (h + 2 * R) * sizeof(float));
    float *restrict sum = malloc(w * sizeof(float)), *restrict weights = malloc(w * sizeof(float));
    float *restrict distances = malloc(w * sizeof(float));
    for (int y = -R; y < h + R; y++)
        for (int x = -R; x < w + R; x++)
            wide[(y + R) * stride + x + R] =
                image[MIN(MAX(y, 0), h - 1) * w + MIN(MAX(x, 0), w - 1)] / 255.0f;
    float two_sigma2 = 2 * sigma * sigma, inv_h2 = 1 / (strength * strength);
    for (int y = 0; y < h; y++) {
        memset(sum, 0, w * sizeof(float));
        memset(weights, 0, w * sizeof(float));
        for (int dy = -S; dy <= S; dy++)
            for (int dx = -S; dx <= S; dx++) {
                const float *own = wide + (y + R) * stride + R, *other = own + dy * stride + dx;
                memset(distances, 0, w * sizeof(float));
                for (int py = -P; py <= P; py++) {
                    const float *a = own + py * stride, *b = other + py * stride;
#pragma omp simd
                    for (int x = 0; x < w; x++) {
                        float d0 = a[x - 2] - b[x - 2], d1 = a[x - 1] - b[x - 1], d2 = a[x] - b[x];
                        float d3 = a[x + 1] - b[x + 1], d4 = a[x + 2] - b[x + 2];
                        distances[x] += d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3 + d4 * d4;
                    }
                }
#pragma omp simd
                for (int x = 0; x < w; x++) {
                    float distance = distances[x];
                    distance = distance * (1.0f / 25) - two_sigma2;
                    distance = distance > 0 ? distance : 0;
                    float weight = expf(-distance * inv_h2);
                    sum[x] += weight * other[x];
                    weights[x] += weight;
                }
            }
        for (int x = 0; x < w; x++)
            out[y * w + x] = sum[x] / weights[x];
    }
    free(wide), free(sum), free(weights), free(distances);
}

// Content-aware reassembly and both gradients, rows of the larger picture: each input row is spread first, and the
// spread gradient's row gathered last.
#include "native.h"

void run(const float *restrict data, const float *restrict masks, const float *restrict top_diff, float *restrict top,
         float *restrict data_diff, float *restrict mask_diff, int images, int channels, int k, int groups, int scale,
         int height, int width) {
    int dh = height / scale, dw = width / scale, half = (k - 1) / 2, room = width + 2 * half * scale;
    float *wide = calloc(room, sizeof(float)), *back = malloc(room * sizeof(float));
    size_t plane = (size_t)height * width;
    memset(data_diff, 0, (size_t)images * channels * dh * dw * sizeof(float));
    memset(mask_diff, 0, (size_t)images * groups * k * k * plane * sizeof(float));
    for (int n = 0; n < images; n++)
        for (int c = 0; c < channels; c++) {
            size_t group = (size_t)n * groups + c / (channels / groups), at = ((size_t)n * channels + c);
            for (int y = 0; y < height; y++) {
                float *out = top + at * plane + (size_t)y * width;
                const float *g = top_diff + at * plane + (size_t)y * width;
                memset(out, 0, width * sizeof(float));
                for (int i = 0; i < k; i++) {
                    int iy = y / scale + i - half;
                    if (iy < 0 || iy >= dh)
                        continue;
                    const float *in = data + (at * dh + iy) * dw;
                    float *to = data_diff + (at * dh + iy) * dw;
                    for (int x = 0; x < dw; x++)
                        for (int s = 0; s < scale; s++)
                            wide[half * scale + x * scale + s] = in[x];
                    memset(back, 0, room * sizeof(float));
                    for (int j = 0; j < k; j++) {
                        const float *m = masks + (group * k * k + i * k + j) * plane + (size_t)y * width;
                        float *md = mask_diff + (group * k * k + i * k + j) * plane + (size_t)y * width;
                        const float *v = wide + j * scale;
                        float *b = back + j * scale;
#pragma omp simd
                        for (int x = 0; x < width; x++) {
                            out[x] += v[x] * m[x];
                            md[x] += v[x] * g[x];
                            b[x] += m[x] * g[x];
                        }
                    }
                    for (int x = 0; x < dw; x++)
                        for (int s = 0; s < scale; s++)
                            to[x] += back[half * scale + x * scale + s];
                }
            }
        }
    free(wide);
    free(back);
}

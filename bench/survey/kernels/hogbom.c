#include "native.h"

// Hogbom's CLEAN: the brightest pixel, and a share of the beam away around it.
void run(float *restrict residual, const float *restrict beam, float *restrict model, int *restrict rounds,
         int width, int height, int beam_width, int px, int py, float gain, float threshold, int limit) {
    for (int round = 0; round < limit; round++) {
        int pos = 0, n = width * height;
        float most = 0;
        for (int i = 0; i < n; i += 512) {
            int end = MIN(n, i + 512);
            float top = 0;
#pragma omp simd reduction(max : top)
            for (int k = i; k < end; k++)
                top = fabsf(residual[k]) > top ? fabsf(residual[k]) : top;
            if (top > most) {
                most = top;
                for (pos = i; fabsf(residual[pos]) != top;)
                    pos++;
            }
        }
        if (most < threshold)
            continue;
        float value = residual[pos], share = gain * value;
        model[pos] += value * gain;
        ++*rounds;
        int rx = pos % width, ry = pos / width, dx = rx - px, dy = ry - py;
        int x0 = MAX(0, dx), x1 = MIN(width - 1, rx + beam_width - px - 1);
        int y0 = MAX(0, dy), y1 = MIN(height - 1, ry + beam_width - py - 1);
        for (int y = y0; y <= y1; y++)
#pragma omp simd
            for (int x = x0; x <= x1; x++)
                residual[y * width + x] -= share * beam[(y - dy) * beam_width + x - dx];
    }
}

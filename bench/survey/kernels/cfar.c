// CFAR: sums of the rows around a cell, 256 columns side by side.
#include "native.h"
enum { W = 256 };

static inline __attribute__((always_inline)) void detect(const uint *restrict power, ull *restrict detections,
                                                         int *restrict count, int rows, int columns, int threshold,
                                                         int most, int train, int guard) {
    int halo = train + guard, cells = (2 * halo + 1) * (2 * halo + 1) - (2 * guard + 1) * (2 * guard + 1);
    uint *shifted = malloc((long)rows * columns * sizeof *shifted);
    for (long i = 0; i < (long)rows * columns; i++)
        shifted[i] = power[i] >> 4;
    for (int row = 0; row < rows; row++)
        for (int first = halo; first < columns - halo; first += W) {
            int n = MIN(W, columns - halo - first);
            ull sums[W] = {0};
            for (int dy = -halo; dy <= halo; dy++) {
                const uint *from = shifted + (long)((row + dy + rows) % rows) * columns + first;
                int gap = abs(dy) <= guard;
#pragma omp simd
                for (int i = 0; i < n; i++) {
                    uint sum = 0;
                    for (int dx = -halo; dx < -guard; dx++)
                        sum += from[i + dx];
                    for (int dx = guard + 1; dx <= halo; dx++)
                        sum += from[i + dx];
                    sums[i] += sum;
                }
                if (!gap)
#pragma omp simd
                    for (int i = 0; i < n; i++) {
                        uint sum = 0;
                        for (int dx = -guard; dx <= guard; dx++)
                            sum += from[i + dx];
                        sums[i] += sum;
                    }
            }
            const uint *mine = power + (long)row * columns + first;
            uchar above[W];
#pragma omp simd
            for (int i = 0; i < n; i++)
                above[i] = (ull)(mine[i] >> 4) * cells * 16 > (ull)threshold * sums[i];
            for (int i = 0; i < n; i++) {
                if (!above[i])
                    continue;
                int largest = 1;
                for (int dy = -1; dy <= 1; dy++) {
                    const uint *other = power + (long)((row + dy + rows) % rows) * columns + first + i;
                    for (int dx = -1; dx <= 1; dx++) {
                        int earlier = dy < 0 || dy == 0 && dx < 0;
                        largest &= !(other[dx] > mine[i] || earlier && other[dx] == mine[i]);
                    }
                }
                if (largest && (*count)++ < most) {
                    ull ratio = (ull)(mine[i] >> 4) * cells * 16 / MAX(sums[i], 1);
                    detections[*count - 1] = (ull)row << 32 | (ull)(first + i) << 16 | MIN(ratio, 65535);
                }
            }
        }
    free(shifted);
}

void run(const short *restrict samples, uint *restrict power, ull *restrict fine, ull *restrict coarse,
         int *restrict fine_count, int *restrict coarse_count, int rows, int columns, int threshold, int most) {
    for (long i = 0; i < (long)rows * columns; i++)
        power[i] = (uint)(samples[2 * i] * samples[2 * i]) + (uint)(samples[2 * i + 1] * samples[2 * i + 1]);
    *fine_count = *coarse_count = 0;
    detect(power, fine, fine_count, rows, columns, threshold, most, 4, 1);
    detect(power, coarse, coarse_count, rows, columns, threshold, most, 6, 3);
}

// Deformable attention: for each place four pixels' channels are added at once.
#include "native.h"

void run(const float *restrict value, const long long *restrict shapes, const long long *restrict starts,
         const float *restrict places, const float *restrict weights, float *restrict out, int spatial, int heads,
         int channels, int levels, int queries, int points, int batch) {
    long pixel = heads * channels;
    float sum[256];
    for (int b = 0; b < batch; b++)
        for (int q = 0; q < queries; q++)
            for (int m = 0; m < heads; m++) {
                long row = ((long)b * queries + q) * heads + m;
                const float *place = places + row * levels * points * 2, *weight = weights + row * levels * points;
                for (int c = 0; c < channels; c++)
                    sum[c] = 0;
                for (int l = 0; l < levels; l++) {
                    int h = shapes[2 * l], w = shapes[2 * l + 1];
                    const float *data = value + ((long)b * spatial + starts[l]) * pixel + m * channels;
                    for (int p = 0; p < points; p++, place += 2, weight++) {
                        float y = place[1] * h - 0.5f, x = place[0] * w - 0.5f;
                        if (!(y > -1 && x > -1 && y < h && x < w))
                            continue;
                        int y0 = floorf(y), x0 = floorf(x);
                        float ly = y - y0, lx = x - x0;
                        for (int k = 0; k < 4; k++) {
                            int py = y0 + k / 2, px = x0 + k % 2;
                            if (py < 0 || px < 0 || py >= h || px >= w)
                                continue;
                            float f = (k / 2 ? ly : 1 - ly) * (k % 2 ? lx : 1 - lx) * *weight;
                            const float *from = data + ((long)py * w + px) * pixel;
#pragma omp simd
                            for (int c = 0; c < channels; c++)
                                sum[c] += f * from[c];
                        }
                    }
                }
                memcpy(out + row * channels, sum, channels * sizeof(float));
            }
}

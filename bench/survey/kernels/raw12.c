// A camera's raw frame of 12 bits a pixel, developed into 8 bits.
#include "native.h"

void run(const uchar *restrict frame, const short *restrict black, const unsigned short *restrict gain,
         const unsigned short *restrict knots, const uchar *restrict tones, unsigned short *restrict raw,
         uchar *restrict out, int slack, int header, int pitch, int width, int height) {
    for (int y = 0; y < height; y++) {
        const uchar *restrict from = frame + header + (long)y * pitch;
        unsigned short *restrict to = raw + y * width;
        const int c = (y & 1) << 1, b0 = black[c], b1 = black[c + 1], g0 = gain[c], g1 = gain[c + 1];
#pragma omp simd
        for (int i = 0; i < width / 2; i++) {
            uint a = from[3 * i], b = from[3 * i + 1], e = from[3 * i + 2];
            int p = (int)(a | (b & 15) << 8) - b0, q = (int)(b >> 4 | e << 4) - b1;
            p = (p > 0 ? p : 0) * g0 >> 8;
            q = (q > 0 ? q : 0) * g1 >> 8;
            to[2 * i] = p < 4095 ? p : 4095;
            to[2 * i + 1] = q < 4095 ? q : 4095;
        }
        if (width & 1) {
            int p = (from[width / 2 * 3] | (from[width / 2 * 3 + 1] & 15) << 8) - b0;
            p = (p > 0 ? p : 0) * g0 >> 8;
            to[width - 1] = p < 4095 ? p : 4095;
        }
    }
    uchar curve[4096];
    for (int v = 0, k = 0; v < 4096; v++) {
        while (k < 7 && v >= knots[k + 1])
            k++;
        curve[v] = tones[k] + (v - knots[k]) * (tones[k + 1] - tones[k]) / (knots[k + 1] - knots[k]);
    }
    unsigned short *low = malloc((width + 4) * 4 * sizeof *low), *high = low + width + 4, *clean = high + width + 4;
    for (int y = 0; y < height; y++) {
        const unsigned short *restrict a = raw + (y < 2 ? 2 - y : y - 2) * width, *restrict b = raw + y * width,
                             *restrict c = raw + (y + 2 < height ? y + 2 : 2 * height - 4 - y) * width;
        // columns of three (of two in the middle), two to either side mirrored
        for (int x = 0; x < width; x++) {
            low[x + 2] = MIN(MIN(a[x], b[x]), c[x]);
            high[x + 2] = MAX(MAX(a[x], b[x]), c[x]);
        }
        low[1] = low[3], low[0] = low[4], high[1] = high[3], high[0] = high[4];
        low[width + 2] = low[width], low[width + 3] = low[width - 1];
        high[width + 2] = high[width], high[width + 3] = high[width - 1];
        for (int x = 0; x < width; x++) {
            unsigned short l = MIN(MIN(low[x], low[x + 4]), MIN(a[x], c[x]));
            unsigned short h = MAX(MAX(high[x], high[x + 4]), MAX(a[x], c[x]));
            int v = b[x], top = h + slack, bottom = l - slack;
            v = MIN(v, top);
            v = MAX(v, bottom);
            v = MIN(v, 4095);
            clean[x] = MAX(v, 0);
        }
        for (int x = 0; x < width; x++)
            out[y * width + x] = curve[clean[x]];
    }
    free(low);
}

// Stereo by census codes of 9 x 7 pixels and Hamming distances, summed over 5 pixels of a row; checked both ways.
#include "native.h"

enum { RX = 4, RY = 3, SUM = 2 };

static int clamp(int v, int most) {
    return v < 0 ? 0 : v > most ? most : v;
}

static void census(const uint8_t *restrict image, ull *restrict codes, int w, int h) {
    int pw = w + 2 * RX;
    uint8_t *rows = malloc(pw * (2 * RY + 1));
    for (int y = 0; y < h; y++) {
        for (int dy = 0; dy <= 2 * RY; dy++) {
            const uint8_t *from = image + clamp(y + dy - RY, h - 1) * w;
            uint8_t *to = rows + dy * pw;
            memset(to, from[0], RX);
            memcpy(to + RX, from, w);
            memset(to + RX + w, from[w - 1], RX);
        }
        const uint8_t *centre = rows + RY * pw + RX;
#pragma omp simd
        for (int x = 0; x < w; x++) {
            ull code = 0;
#pragma GCC unroll 7
            for (int dy = 0; dy <= 2 * RY; dy++)
#pragma GCC unroll 9
                for (int dx = 0; dx <= 2 * RX; dx++)
                    if (dy != RY || dx != RX)
                        code = code << 1 | (rows[dy * pw + x + dx] < centre[x]);
            codes[y * w + x] = code;
        }
    }
    free(rows);
}

static void match(const ull *restrict mine, const ull *restrict other, uint8_t *restrict disparity, int w, int h,
                  int disparities, int sign) {
    int pw = w + 2 * SUM;
    ull *own = malloc(pw * 8), *them = malloc((pw + disparities) * 8);
    int *cost = malloc(pw * 4), *best = malloc(w * 4), *at = malloc(w * 4), *second = malloc(w * 4);
    for (int y = 0; y < h; y++) {
        for (int i = 0; i < pw; i++)
            own[i] = mine[y * w + clamp(i - SUM, w - 1)];
        int before = sign < 0 ? disparities : 0;
        for (int i = 0; i < pw + disparities; i++)
            them[i] = other[y * w + clamp(i - SUM - before, w - 1)];
        for (int x = 0; x < w; x++)
            best[x] = second[x] = 1 << 30, at[x] = 0;
        for (int d = 0; d < disparities; d++) {
            const ull *o = them + before + sign * d;
#pragma omp simd
            for (int i = 0; i < pw; i++)
                cost[i] = __builtin_popcountll(own[i] ^ o[i]);
#pragma omp simd
            for (int x = 0; x < w; x++) {
                int c = cost[x] + cost[x + 1] + cost[x + 2] + cost[x + 3] + cost[x + 4];
                int far = d - at[x] > 1, b = best[x], less = c < b;
                int s = less ? b : c;
                second[x] = far & (less | (s < second[x])) ? s : second[x];
                best[x] = less ? c : b;
                at[x] = less ? d : at[x];
            }
        }
        for (int x = 0; x < w; x++)
            disparity[y * w + x] = best[x] * 20 <= second[x] * 19 ? at[x] : 255;
    }
    free(own), free(them), free(cost), free(best), free(at), free(second);
}

void run(const uint8_t *restrict left, const uint8_t *restrict right, ull *restrict left_codes,
         ull *restrict right_codes, uint8_t *restrict left_disparity, uint8_t *restrict right_disparity,
         uint8_t *restrict out, int w, int h, int disparities) {
    census(left, left_codes, w, h);
    census(right, right_codes, w, h);
    match(left_codes, right_codes, left_disparity, w, h, disparities, -1);
    match(right_codes, left_codes, right_disparity, w, h, disparities, 1);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int d = left_disparity[y * w + x], r = d != 255 && x >= d ? right_disparity[y * w + x - d] : 255;
            out[y * w + x] = r != 255 && abs(r - d) <= 1 ? d : 0;
        }
}

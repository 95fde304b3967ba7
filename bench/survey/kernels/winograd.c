// Winograd's F(2x2, 3x3): transforms by whole rows of tiles, products by blocks of four rows.
#include "native.h"

void run(const float *restrict input, const float *restrict weight, const float *restrict bias, float *restrict u,
         float *restrict v, float *restrict m, float *restrict output, int K, int C, int H, int W, int tiles_y,
         int tiles_x) {
    long P = (long)tiles_y * tiles_x, KC = (long)K * C, CP = C * P;
    for (long id = 0; id < KC; id++) {
        const float *g = weight + id * 9;
        float t[4][3];
        for (int j = 0; j < 3; j++) {
            float a = g[j], b = g[3 + j], c = g[6 + j];
            t[0][j] = a, t[1][j] = 0.5f * (a + b + c), t[2][j] = 0.5f * (a - b + c), t[3][j] = c;
        }
        for (int i = 0; i < 4; i++) {
            float a = t[i][0], b = t[i][1], c = t[i][2];
            u[(i * 4) * KC + id] = a, u[(i * 4 + 1) * KC + id] = 0.5f * (a + b + c);
            u[(i * 4 + 2) * KC + id] = 0.5f * (a - b + c), u[(i * 4 + 3) * KC + id] = c;
        }
    }
    // four rows with their padding, so that no tile asks for borders
    int wide = 2 * tiles_x + 2;
    float *rows = calloc(8L * wide, sizeof *rows), *sums = rows + 4L * wide;
    for (int c = 0; c < C; c++)
        for (int ty = 0; ty < tiles_y; ty++) {
            for (int i = 0; i < 4; i++) {
                int y = 2 * ty - 1 + i;
                float *row = rows + (long)i * wide;
                memset(row, 0, wide * sizeof *row);
                if (y >= 0 && y < H)
                    memcpy(row + 1, input + ((long)c * H + y) * W, W * sizeof *row);
            }
            const float *r0 = rows, *r1 = r0 + wide, *r2 = r1 + wide, *r3 = r2 + wide;
            float *s0 = sums, *s1 = s0 + wide, *s2 = s1 + wide, *s3 = s2 + wide;
#pragma omp simd
            for (int x = 0; x < wide; x++) {
                s0[x] = r0[x] - r2[x], s1[x] = r1[x] + r2[x];
                s2[x] = r2[x] - r1[x], s3[x] = r1[x] - r3[x];
            }
            for (int i = 0; i < 4; i++) {
                const float *s = sums + (long)i * wide;
                float *to = v + 4L * i * CP + c * P + (long)ty * tiles_x;
                float *to1 = to + CP, *to2 = to1 + CP, *to3 = to2 + CP;
#pragma omp simd
                for (int t = 0; t < tiles_x; t++) {
                    float a = s[2 * t], b = s[2 * t + 1], e = s[2 * t + 2], f = s[2 * t + 3];
                    to[t] = a - e, to1[t] = b + e, to2[t] = e - b, to3[t] = b - f;
                }
            }
        }
    free(rows);
    for (int z = 0; z < 16; z++) {
        const float *a = u + z * KC, *b = v + z * CP;
        float *o = m + z * K * P;
        for (long p0 = 0; p0 < P; p0 += 32)
            for (int k0 = 0; k0 < K; k0 += 4) {
                int lanes = MIN(32, P - p0), count = MIN(4, K - k0);
                if (lanes == 32 && count == 4) {
                    float s[4][32] = {0};
                    for (int c = 0; c < C; c++) {
                        const float *from = b + c * P + p0;
                        float w0 = a[k0 * C + c], w1 = a[(k0 + 1) * C + c], w2 = a[(k0 + 2) * C + c],
                              w3 = a[(k0 + 3) * C + c];
#pragma omp simd
                        for (int l = 0; l < 32; l++) {
                            float x = from[l];
                            s[0][l] += w0 * x, s[1][l] += w1 * x, s[2][l] += w2 * x, s[3][l] += w3 * x;
                        }
                    }
                    for (int j = 0; j < 4; j++)
                        memcpy(o + (k0 + j) * P + p0, s[j], sizeof s[j]);
                } else
                    for (int k = k0; k < k0 + count; k++) {
                        float s[32] = {0};
                        for (int c = 0; c < C; c++) {
                            float w = a[k * C + c];
#pragma omp simd
                            for (int l = 0; l < lanes; l++)
                                s[l] += w * b[c * P + p0 + l];
                        }
                        memcpy(o + k * P + p0, s, lanes * sizeof *s);
                    }
            }
    }
    float *parts = malloc(8L * tiles_x * sizeof *parts);
    for (int k = 0; k < K; k++)
        for (int ty = 0; ty < tiles_y; ty++) {
            const float *from = m + k * P + (long)ty * tiles_x;
            long KP = K * P;
            for (int j = 0; j < 4; j++) {
                const float *c0 = from + j * KP, *c1 = c0 + 4 * KP, *c2 = c1 + 4 * KP, *c3 = c2 + 4 * KP;
                float *t0 = parts + (long)j * tiles_x, *t1 = t0 + 4L * tiles_x;
#pragma omp simd
                for (int t = 0; t < tiles_x; t++)
                    t0[t] = c0[t] + c1[t] + c2[t], t1[t] = c1[t] - c2[t] - c3[t];
            }
            float add = bias[k];
            for (int i = 0; i < 2 && 2 * ty + i < H; i++) {
                const float *t0 = parts + 4L * i * tiles_x, *t1 = t0 + tiles_x, *t2 = t1 + tiles_x, *t3 = t2 + tiles_x;
                float *row = output + ((long)k * H + 2 * ty + i) * W;
                int whole = W / 2;
#pragma omp simd
                for (int t = 0; t < whole; t++) {
                    float left = t0[t] + t1[t] + t2[t] + add, right = t1[t] - t2[t] - t3[t] + add;
                    row[2 * t] = left > 0 ? left : 0;
                    row[2 * t + 1] = right > 0 ? right : 0;
                }
                if (W % 2) {
                    float left = t0[whole] + t1[whole] + t2[whole] + add;
                    row[W - 1] = left > 0 ? left : 0;
                }
            }
        }
    free(parts);
}

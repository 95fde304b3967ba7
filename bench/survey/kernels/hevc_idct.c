#include "native.h"

typedef struct {
    unsigned short x, y;
    uchar log2_size, qp, last_row, pad;
    int offset;
} Tu;

static const int SCALE[6] = {40, 45, 51, 57, 64, 72};
static const int ODD16[8] = {90, 87, 80, 70, 57, 43, 25, 9};
static const int ODD32[16] = {90, 90, 88, 85, 82, 78, 73, 67, 61, 54, 46, 38, 31, 22, 13, 4};
static const int ODD8[4] = {89, 75, 50, 18}, ODD4[2] = {83, 36};
static short odd[6][16][16];  // by log2 of the size

static void tables(void) {
    static const int *const FIRST[6] = {0, 0, ODD4, ODD8, ODD16, ODD32};
    for (int s = 2; s <= 5; s++) {
        int n = 1 << s;
        for (int k = 0; k < n / 2; k++)
            for (int j = 0; j < n / 2; j++) {
                int a = (2 * k + 1) * (2 * j + 1) % (4 * n), sign = 1;
                if (a > 2 * n)
                    a = 4 * n - a;
                if (a > n) {
                    a = 2 * n - a;
                    sign = -1;
                }
                odd[s][k][j] = sign * FIRST[s][a / 2];
            }
    }
}

static inline short narrow(int v) {
    return v < -32768 ? -32768 : v > 32767 ? 32767 : v;
}

// W columns at a time: out[j][c].
#define W 8
static void inverse(const short *restrict in, int step, int s, int lanes, int (*restrict out)[W]) {
    if (s == 1) {
        for (int c = 0; c < lanes; c++) {
            out[0][c] = 64 * (in[c] + in[step + c]);
            out[1][c] = 64 * (in[c] - in[step + c]);
        }
        return;
    }
    int n = 1 << s, even[16][W];
    inverse(in, 2 * step, s - 1, lanes, even);
    for (int j = 0; j < n / 2; j++) {
        int sum[W] = {0};
        for (int k = 0; k < n / 2; k++) {
            int f = odd[s][k][j];
            const short *row = in + (2 * k + 1) * step;
            if (lanes == W)
#pragma omp simd
                for (int c = 0; c < W; c++)
                    sum[c] += f * row[c];
            else
                for (int c = 0; c < lanes; c++)
                    sum[c] += f * row[c];
        }
        for (int c = 0; c < lanes; c++) {
            out[j][c] = even[j][c] + sum[c];
            out[n - 1 - j][c] = even[j][c] - sum[c];
        }
    }
}

void run(const Tu *restrict tus, const short *restrict coefficients, uchar *restrict picture, int stride, int count) {
    tables();
    for (int t = 0; t < count; t++) {
        Tu tu = tus[t];
        int s = tu.log2_size, n = 1 << s, scale = SCALE[tu.qp % 6] << (tu.qp / 6), shift = s + 3;
        short a[32 * 32], b[32 * 32];
        int out[32][W], lanes = MIN(n, W), used = MIN(n, tu.last_row + 1) * n;
#pragma omp simd
        for (int i = 0; i < used; i++)
            a[i] = narrow((coefficients[tu.offset + i] * scale * 16 + (1 << (shift - 1))) >> shift);
        memset(a + used, 0, (n * n - used) * sizeof(short));
        for (int first = 0; first < n; first += lanes) {
            inverse(a + first, n, s, lanes, out);
            for (int j = 0; j < n; j++)
                for (int c = 0; c < lanes; c++)
                    b[(first + c) * n + j] = narrow((out[j][c] + 64) >> 7);  // transposed
        }
        for (int first = 0; first < n; first += lanes) {
            inverse(b + first, n, s, lanes, out);
            for (int c = 0; c < lanes; c++) {
                uchar *p = picture + (tu.y + first + c) * stride + tu.x;
                for (int j = 0; j < n; j++) {
                    int v = p[j] + narrow((out[j][c] + 2048) >> 12);
                    p[j] = v < 0 ? 0 : v > 255 ? 255 : v;
                }
            }
        }
    }
}

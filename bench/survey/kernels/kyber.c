// Products of matrices and vectors of polynomials modulo 3329, with transforms of which most loops are vectors.
#include "native.h"
enum { N = 256, Q = 3329, QINV = -3327, K = 3 };

static const int16_t zetas[128] = {
    -1044, -758, -359, -1517, 1493, 1422, 287, 202, -171, 622, 1577, 182, 962, -1202, -1474, 1468, 573, -1325,
    264, 383, -829, 1458, -1602, -130, -681, 1017, 732, 608, -1542, 411, -205, -1571, 1223, 652, -552, 1015,
    -1293, 1491, -282, -1544, 516, -8, -320, -666, -1618, -1162, 126, 1469, -853, -90, -271, 830, 107, -1421,
    -247, -951, -398, 961, -1508, -725, 448, -1065, 677, -1275, -1103, 430, 555, 843, -1251, 871, 1550, 105,
    422, 587, 177, -235, -291, -460, 1574, 1653, -246, 778, 1159, -147, -777, 1483, -602, 1119, -1590, 644,
    -872, 349, 418, 329, -156, -75, 817, 1097, 603, 610, 1322, -1285, -1465, 384, -1215, -136, 1218, -1335,
    -874, 220, -1187, -1659, -1185, -1530, -1278, 794, -1510, -854, -870, 478, -108, -308, 996, 991, 958, -1460,
    1522, 1628,
};

static inline int16_t reduce(int a) {
    int16_t t = (int16_t)a * QINV;
    return (a - (int)t * Q) >> 16;
}

static inline int16_t barrett(int16_t a) {
    const int16_t v = ((1 << 26) + Q / 2) / Q;
    int16_t t = ((int)v * a + (1 << 25)) >> 26;
    return a - t * Q;
}

static inline int16_t fqmul(int16_t a, int16_t b) {
    return reduce((int)a * b);
}

static inline __attribute__((always_inline)) void layer(int16_t *restrict r, int len) {
    for (int group = 0; group < 128 / len; group++) {
        int16_t zeta = zetas[128 / len + group], *low = r + 2 * len * group, *high = low + len;
#pragma omp simd
        for (int j = 0; j < len; j++) {
            int16_t t = fqmul(zeta, high[j]);
            high[j] = low[j] - t;
            low[j] = low[j] + t;
        }
    }
}

static inline __attribute__((always_inline)) void layer_back(int16_t *restrict r, int len) {
    for (int group = 0; group < 128 / len; group++) {
        int16_t zeta = zetas[256 / len - 1 - group], *low = r + 2 * len * group, *high = low + len;
#pragma omp simd
        for (int j = 0; j < len; j++) {
            int16_t t = low[j], u = high[j];
            low[j] = barrett(t + u);
            high[j] = fqmul(zeta, u - t);
        }
    }
}

static void ntt(int16_t *restrict r) {
    layer(r, 128);
    layer(r, 64);
    layer(r, 32);
    layer(r, 16);
    layer(r, 8);
    layer(r, 4);
    layer(r, 2);
    for (int i = 0; i < N; i++)
        r[i] = barrett(r[i]);
}

static void back(int16_t *restrict r) {
    layer_back(r, 2);
    layer_back(r, 4);
    layer_back(r, 8);
    layer_back(r, 16);
    layer_back(r, 32);
    layer_back(r, 64);
    layer_back(r, 128);
    for (int i = 0; i < N; i++)
        r[i] = fqmul(r[i], 1441);
}

void run(const int16_t *restrict matrix, const int16_t *restrict secret, const int16_t *restrict error,
         uint16_t *restrict result, int keys) {
    int16_t signed_zetas[128];
    for (int i = 0; i < 64; i++) {
        signed_zetas[2 * i] = zetas[64 + i];
        signed_zetas[2 * i + 1] = -zetas[64 + i];
    }
    for (int key = 0; key < keys; key++) {
        int16_t s[K][N];
        memcpy(s, secret + (long)key * K * N, sizeof s);
        for (int k = 0; k < K; k++)
            ntt(s[k]);
        for (int row = 0; row < K; row++) {
            long first = ((long)key * K + row) * N;
            int16_t r[N] = {0};
            for (int k = 0; k < K; k++) {
                const int16_t *a = matrix + (first * K) + k * N, *b = s[k];
#pragma omp simd
                for (int i = 0; i < N / 2; i++) {
                    int16_t a0 = a[2 * i], a1 = a[2 * i + 1], b0 = b[2 * i], b1 = b[2 * i + 1];
                    r[2 * i] += fqmul(fqmul(a1, b1), signed_zetas[i]) + fqmul(a0, b0);
                    r[2 * i + 1] += fqmul(a0, b1) + fqmul(a1, b0);
                }
            }
            for (int i = 0; i < N; i++)
                r[i] = barrett(r[i]);
            back(r);
            for (int i = 0; i < N; i++) {
                int16_t v = barrett(r[i] + error[first + i]);
                result[first + i] = v + (v >> 15 & Q);
            }
        }
    }
}

#include "native.h"

typedef _Float16 half;

// Planes of floats, the taps outside, pixels of a row inside.
static void filter(const half *restrict input, half *restrict output, const float *restrict guide, int w, int h, int step,
                   float phi_colour, float phi_depth, float *restrict room) {
    static const float K[3] = {3.0f / 8, 1.0f / 4, 1.0f / 16};
    size_t n = (size_t)w * h;
    float *restrict R = room, *restrict G = R + n, *restrict B = G + n, *restrict V = B + n, *restrict L = V + n,
          *restrict X = L + n, *restrict Y = X + n, *restrict Z = Y + n, *restrict D = Z + n, *restrict row = D + n;
    for (size_t i = 0; i < n; i++) {
        R[i] = input[4 * i];
        G[i] = input[4 * i + 1];
        B[i] = input[4 * i + 2];
        V[i] = input[4 * i + 3];
        L[i] = 0.2126f * R[i] + 0.7152f * G[i] + 0.0722f * B[i];
        X[i] = guide[4 * i];
        Y[i] = guide[4 * i + 1];
        Z[i] = guide[4 * i + 2];
        D[i] = guide[4 * i + 3];
    }
    float *restrict scale = row, *restrict weights = row + w, *restrict sr = weights + w, *restrict sg = sr + w,
          *restrict sb = sg + w, *restrict sv = sb + w;
    for (int y = 0; y < h; y++) {
        int o = y * w;
        for (int x = 0; x < w; x++) {
            float variance = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    int px = MIN(MAX(x + dx, 0), w - 1), py = MIN(MAX(y + dy, 0), h - 1);
                    variance += (dx ? 0.25f : 0.5f) * (dy ? 0.25f : 0.5f) * V[py * w + px];
                }
            scale[x] = 1 / (phi_colour * sqrtf(MAX(variance, 0) + 1e-8f));
            weights[x] = 1;
            sr[x] = R[o + x];
            sg[x] = G[o + x];
            sb[x] = B[o + x];
            sv[x] = V[o + x];
        }
        for (int j = -2; j <= 2; j++)
            for (int i = -2; i <= 2; i++) {
                int py = y + j * step, away = i * step, a = MAX(0, -away), b = MIN(w, w - away);
                if ((i == 0 && j == 0) || py < 0 || py >= h)
                    continue;
                int p = py * w + away;
                float k = K[abs(i)] * K[abs(j)] * (64.0f / 9), per_depth = phi_depth * step * sqrtf(i * i + j * j);
#pragma omp simd
                for (int x = a; x < b; x++) {
                    int q = p + x, c = o + x;
                    float wn = X[c] * X[q] + Y[c] * Y[q] + Z[c] * Z[q];
                    wn = MAX(wn, 0);
                    wn *= wn;
                    wn *= wn;
                    wn *= wn;
                    wn *= wn;
                    wn *= wn;
                    float wz = fabsf(D[c] - D[q]) / per_depth, wl = fabsf(L[c] - L[q]) * scale[x];
                    float weight = k * wn * expf(-wz - wl);
                    weight = D[q] < 0 ? 0 : weight;
                    weights[x] += weight;
                    sr[x] += weight * R[q];
                    sg[x] += weight * G[q];
                    sb[x] += weight * B[q];
                    sv[x] += weight * weight * V[q];
                }
            }
        for (int x = 0; x < w; x++) {
            half *to = output + 4 * (o + x);
            if (D[o + x] < 0) {
                memcpy(to, input + 4 * (o + x), 8);
                continue;
            }
            float inv = 1 / weights[x];
            to[0] = sr[x] * inv;
            to[1] = sg[x] * inv;
            to[2] = sb[x] * inv;
            to[3] = sv[x] * inv * inv;
        }
    }
}

void run(half *restrict a, half *restrict b, const float *restrict guide, const uchar *restrict albedo,
         uchar *restrict image, int w, int h, int rounds, float phi_colour, float phi_depth) {
    float *room = malloc(((size_t)9 * w * h + 6 * w) * sizeof(float));
    half *pair[2] = {a, b};
    for (int r = 0; r < rounds; r++)
        filter(pair[r & 1], pair[~r & 1], guide, w, h, 1 << r, phi_colour, phi_depth, room);
    const half *light = pair[rounds & 1];
    for (int i = 0; i < w * h; i++) {
        for (int c = 0; c < 3; c++) {
            float v = light[4 * i + c];
            v *= albedo[4 * i + c] * (1.0f / 255);
            v = v / (1 + v);
            image[4 * i + c] = 255 * sqrtf(v) + 0.5f;
        }
        image[4 * i + 3] = 255;
    }
    free(room);
}

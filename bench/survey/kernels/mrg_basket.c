// A call on a basket of four shares by Monte Carlo, 64 generators side by side.
#include "native.h"

#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"))) extern float logf(float);
__attribute__((simd("notinbranch"))) extern float cosf(float);
#endif

enum { BLOCK = 128, W = 64, A = 4 };

static const float factor[A][A] = {{1.0f, 0.0f, 0.0f, 0.0f},
                                   {0.5f, 0.8660254f, 0.0f, 0.0f},
                                   {0.3f, 0.2309401f, 0.9255629f, 0.0f},
                                   {0.2f, 0.2309401f, 0.0936339f, 0.9474946f}};
static const float weight[A] = {0.4f, 0.3f, 0.2f, 0.1f}, spot[A] = {100, 95, 110, 102};
static const float volatility[A] = {0.20f, 0.25f, 0.30f, 0.35f};
static const uint64_t M1 = 4294967087ull, M2 = 4294944443ull;

static inline uint64_t times1(uint a, uint x) {
    uint64_t p = (uint64_t)a * x;
    p = (uint64_t)(uint)(p >> 32) * 209 + (uint)p;
    return p >= M1 ? p - M1 : p;
}

static inline uint64_t times2(uint a, uint x) {
    uint64_t p = (uint64_t)a * x;
    p = (uint64_t)(uint)(p >> 32) * 22853 + (uint)p;
    p = (uint64_t)(uint)(p >> 32) * 22853 + (uint)p;
    return p >= M2 ? p - M2 : p;
}

static uint mix(uint *s) {
    *s = *s * 1664525u + 1013904223u;
    uint v = (*s ^ *s >> 15) * 0x2c1b3c6du;
    return v ^ v >> 13;
}

static void uniform(uint (*restrict x)[W], uint (*restrict y)[W], float *restrict out) {
#pragma omp simd
    for (int l = 0; l < W; l++) {
        uint64_t p = times1(1403580, x[1][l]) + M1 - times1(810728, x[0][l]);
        p = p >= M1 ? p - M1 : p;
        x[0][l] = x[1][l];
        x[1][l] = x[2][l];
        x[2][l] = p;
        uint64_t q = times2(527612, y[2][l]) + M2 - times2(1370589, y[0][l]);
        q = q >= M2 ? q - M2 : q;
        y[0][l] = y[1][l];
        y[1][l] = y[2][l];
        y[2][l] = q;
        uint u = p > q ? p - q : p + M1 - q;
        out[l] = (int)((u >> 8) + 1) * (1.0f / 16777216);
    }
}

void run(double *restrict sums, int blocks, int paths, uint seed, float strike, float rate, float maturity) {
    float root = sqrtf(maturity), at[A], spread[A];
    for (int a = 0; a < A; a++) {
        at[a] = weight[a] * spot[a] * expf((rate - 0.5f * volatility[a] * volatility[a]) * maturity);
        spread[a] = volatility[a] * root;
    }
    double discount = exp(-(double)rate * maturity);
    for (int b = 0; b < blocks; b++) {
        double all = 0, square = 0;
        for (int first = b * BLOCK; first < (b + 1) * BLOCK; first += W) {
            uint x[3][W], y[3][W];
            for (int l = 0; l < W; l++) {
                uint s = seed + (uint)(first + l) * 2654435761u;
                for (int i = 0; i < 3; i++)
                    x[i][l] = mix(&s) >> 1 | 1;
                for (int i = 0; i < 3; i++)
                    y[i][l] = mix(&s) >> 1 | 1;
            }
            for (int p = 0; p < paths; p++) {
                float u[A][W];
                for (int a = 0; a < A; a++)
                    uniform(x, y, u[a]);
                float z[A][W], up[W] = {0}, down[W] = {0};
                for (int a = 0; a < A; a += 2)
#pragma omp simd
                    for (int l = 0; l < W; l++) {
                        float r = sqrtf(-2 * logf(u[a][l])), angle = 6.2831853f * u[a + 1][l];
                        z[a][l] = r * cosf(angle);
                        z[a + 1][l] = r * cosf(angle - 1.5707963f);  // gcc has no vectors for sincosf
                    }
                for (int a = 0; a < A; a++)
#pragma omp simd
                    for (int l = 0; l < W; l++) {
                        float w = 0;
                        for (int k = 0; k <= a; k++)
                            w += factor[a][k] * z[k][l];
                        float e = expf(spread[a] * w);
                        up[l] += at[a] * e;
                        down[l] += at[a] / e;
                    }
#pragma omp simd reduction(+ : all, square)
                for (int l = 0; l < W; l++) {
                    float gain = up[l] > strike ? up[l] - strike : 0, mirror = down[l] > strike ? down[l] - strike : 0;
                    double both = 0.5f * (gain + mirror);
                    all += both;
                    square += both * both;
                }
            }
        }
        sums[2 * b] = discount * all;
        sums[2 * b + 1] = discount * discount * square;
    }
}

// The LIBOR market model with 32 paths side by side.
#include "native.h"
enum { RATES = 40, FIXINGS = 20, OPTIONS = 8, THREADS = 64, W = 32 };
static const int maturity[OPTIONS] = {4, 4, 8, 8, 12, 12, 20, 20};
static const float swap_rate[OPTIONS] = {0.045f, 0.05f, 0.055f, 0.05f, 0.045f, 0.05f, 0.055f, 0.05f};

void run(const float *restrict z, const float *restrict initial, const float *restrict lambda, float *restrict values,
         float *restrict sums, int paths, float delta) {
    float root = sqrtf(delta);
    memset(sums, 0, (paths + THREADS - 1) / THREADS * 2 * sizeof(float));
    for (int first = 0; first < paths; first += W) {
        int lanes = MIN(W, paths - first);
        float L[RATES][W], bond[RATES][W], annuity[RATES][W], value[W] = {0}, shock[W] = {0}, v[W];
        for (int i = 0; i < RATES; i++)
            for (int l = 0; l < W; l++)
                L[i][l] = initial[i];
        for (int n = 0; n < FIXINGS; n++) {
            for (int l = 0; l < lanes; l++)
                shock[l] = root * z[(long)n * paths + first + l];
            memset(v, 0, sizeof v);
            for (int i = n + 1; i < RATES; i++) {
                float lam = lambda[i - n - 1], con = delta * lam;
#pragma omp simd
                for (int l = 0; l < W; l++) {
                    v[l] += con * L[i][l] / (1 + delta * L[i][l]);
                    L[i][l] *= expf(con * v[l] + lam * (shock[l] - 0.5f * con));
                }
            }
        }
        float b[W], s[W] = {0};
        for (int l = 0; l < W; l++)
            b[l] = 1;
        for (int n = FIXINGS; n < RATES; n++)
#pragma omp simd
            for (int l = 0; l < W; l++) {
                bond[n][l] = b[l] /= 1 + delta * L[n][l];
                annuity[n][l] = s[l] += delta * b[l];
            }
        for (int k = 0; k < OPTIONS; k++) {
            int m = FIXINGS + maturity[k] - 1;
#pragma omp simd
            for (int l = 0; l < W; l++) {
                float swap = bond[m][l] + swap_rate[k] * annuity[m][l] - 1;
                value[l] -= swap < 0 ? 100 * swap : 0;
            }
        }
        for (int n = 0; n < FIXINGS; n++)
#pragma omp simd
            for (int l = 0; l < W; l++)
                value[l] /= 1 + delta * L[n][l];
        float sum = 0, square = 0;
        for (int l = 0; l < lanes; l++) {
            values[first + l] = value[l];
            sum += value[l], square += value[l] * value[l];
        }
        sums[first / THREADS * 2] += sum;
        sums[first / THREADS * 2 + 1] += square;
    }
}

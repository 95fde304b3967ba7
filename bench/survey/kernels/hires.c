// Stiff chemistry in eight cells side by side, each with a time and a step of its own; a cell that is finished rests.
#include "native.h"
__attribute__((simd("notinbranch"))) extern double pow(double, double);
enum { N = 8, W = 8 };
typedef double Row[W];
#define LANES _Pragma("omp simd") for (int l = 0; l < W; l++)

static inline __attribute__((always_inline)) void rates(const Row *restrict y, Row *restrict f, const double *restrict k) {
    LANES {
        double bound = 280 * y[5][l] * y[7][l];
        f[0][l] = -1.71 * k[l] * y[0][l] + 0.43 * y[1][l] + 8.32 * y[2][l] + 0.0007;
        f[1][l] = 1.71 * k[l] * y[0][l] - 8.75 * y[1][l];
        f[2][l] = -(8.32 + 1.71 * k[l]) * y[2][l] + 0.43 * y[3][l] + 0.035 * y[4][l];
        f[3][l] = 8.32 * y[1][l] + 1.71 * k[l] * y[2][l] - (0.43 + 0.69 * k[l]) * y[3][l];
        f[4][l] = -1.745 * y[4][l] + 0.43 * y[5][l] + 0.43 * y[6][l];
        f[5][l] = -bound + 0.69 * k[l] * y[3][l] + 1.71 * y[4][l] - 0.43 * y[5][l] + 0.69 * y[6][l];
        f[6][l] = bound - 1.81 * y[6][l];
        f[7][l] = -f[6][l];
    }
}

// I - s J
static inline void matrix(Row a[N][N], const Row *restrict y, const double *restrict k, const double *restrict s) {
    memset(a, 0, N * N * sizeof(Row));
    LANES {
        double c = s[l];
        a[0][0][l] = 1 + c * 1.71 * k[l], a[0][1][l] = -c * 0.43, a[0][2][l] = -c * 8.32;
        a[1][0][l] = -c * 1.71 * k[l], a[1][1][l] = 1 + c * 8.75;
        a[2][2][l] = 1 + c * (8.32 + 1.71 * k[l]), a[2][3][l] = -c * 0.43, a[2][4][l] = -c * 0.035;
        a[3][1][l] = -c * 8.32, a[3][2][l] = -c * 1.71 * k[l], a[3][3][l] = 1 + c * (0.43 + 0.69 * k[l]);
        a[4][4][l] = 1 + c * 1.745, a[4][5][l] = a[4][6][l] = -c * 0.43;
        a[5][3][l] = -c * 0.69 * k[l], a[5][4][l] = -c * 1.71, a[5][5][l] = 1 + c * (280 * y[7][l] + 0.43);
        a[5][6][l] = -c * 0.69, a[5][7][l] = c * 280 * y[5][l];
        a[6][5][l] = -c * 280 * y[7][l], a[6][6][l] = 1 + c * 1.81, a[6][7][l] = -c * 280 * y[5][l];
        a[7][5][l] = c * 280 * y[7][l], a[7][6][l] = -c * 1.81, a[7][7][l] = 1 + c * 280 * y[5][l];
    }
}

static inline void decompose(Row a[N][N]) {
    for (int k = 0; k < N; k++) {
        LANES a[k][k][l] = 1 / a[k][k][l];
        for (int i = k + 1; i < N; i++) {
            LANES a[i][k][l] *= a[k][k][l];
            for (int j = k + 1; j < N; j++)
                LANES a[i][j][l] -= a[i][k][l] * a[k][j][l];
        }
    }
}

static inline void solve(Row a[N][N], Row *restrict b) {
    for (int i = 1; i < N; i++)
        for (int j = 0; j < i; j++)
            LANES b[i][l] -= a[i][j][l] * b[j][l];
    for (int i = N - 1; i >= 0; i--) {
        for (int j = i + 1; j < N; j++)
            LANES b[i][l] -= a[i][j][l] * b[j][l];
        LANES b[i][l] *= a[i][i][l];
    }
}

void run(double *restrict state, const double *restrict scale, int *restrict taken, int cells, double t_end, double rtol,
         double atol, int max_steps) {
    const double d = 1 / (2 + sqrt(2.0)), e32 = 6 + sqrt(2.0);
    for (int first = 0; first < cells; first += W) {
        int lanes = MIN(W, cells - first);
        Row a[N][N], y[N], f0[N], f1[N], k1[N], k2[N], k3[N], z[N], k, t, h, s;
        int yes[W] = {0}, no[W] = {0};
        for (int l = 0; l < W; l++) {
            int from = first + MIN(l, lanes - 1);
            for (int i = 0; i < N; i++)
                y[i][l] = state[(long)i * cells + from];
            k[l] = scale[from], t[l] = 0, h[l] = 1e-4;
        }
        for (;;) {
            int any = 0;
            for (int l = 0; l < lanes; l++)
                any |= (t[l] < t_end) & (yes[l] + no[l] < max_steps);
            if (!any)
                break;
            LANES {
                h[l] = t[l] + h[l] > t_end ? t_end - t[l] : h[l];
                s[l] = h[l] * d;
            }
            matrix(a, y, k, s);
            decompose(a);
            rates(y, f0, k);
            memcpy(k1, f0, sizeof k1);
            solve(a, k1);
            for (int i = 0; i < N; i++)
                LANES z[i][l] = y[i][l] + 0.5 * h[l] * k1[i][l];
            rates(z, f1, k);
            for (int i = 0; i < N; i++)
                LANES k2[i][l] = f1[i][l] - k1[i][l];
            solve(a, k2);
            for (int i = 0; i < N; i++)
                LANES {
                    k2[i][l] += k1[i][l];
                    z[i][l] = y[i][l] + h[l] * k2[i][l];
                }
            rates(z, k3, k);
            for (int i = 0; i < N; i++)
                LANES k3[i][l] -= e32 * (k2[i][l] - f1[i][l]) + 2 * (k1[i][l] - f0[i][l]);
            solve(a, k3);
            Row error = {0};
            for (int i = 0; i < N; i++)
                LANES {
                    double e = h[l] / 6 * (k1[i][l] - 2 * k2[i][l] + k3[i][l]);
                    double p = fabs(y[i][l]), q = fabs(z[i][l]);
                    e /= atol + rtol * (p > q ? p : q);
                    error[l] += e * e;
                }
            LANES {
                double e = sqrt(error[l] / N);
                int on = (t[l] < t_end) & (yes[l] + no[l] < max_steps), good = on & (e <= 1);
                double factor = 0.85 * pow(e > 1e-10 ? e : 1e-10, -1.0 / 3);
                factor = factor < 0.2 ? 0.2 : factor > 5 ? 5 : factor;
                t[l] += good ? h[l] : 0;
                h[l] *= on ? factor : 1;
                yes[l] += good;
                no[l] += on & !good;
                for (int i = 0; i < N; i++)
                    y[i][l] = good ? z[i][l] : y[i][l];
            }
        }
        for (int l = 0; l < lanes; l++) {
            for (int i = 0; i < N; i++)
                state[(long)i * cells + first + l] = y[i][l];
            taken[2 * (first + l)] = yes[l], taken[2 * (first + l) + 1] = no[l];
        }
    }
}

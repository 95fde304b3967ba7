// Staggered quarks: rows of sites along x in vectors; what goes round the row's end is copied first.
#include "native.h"
enum { MOST = 64 };

typedef struct {
    double re[3][3][MOST], im[3][3][MOST];
} Links;

typedef struct {
    double re[3][MOST], im[3][MOST];
} Vectors;

// `shift`: how far along x.
static void links_of(Links *restrict to, const double *restrict links, int mu, long row, int n, long volume,
                     int shift) {
    for (int c = 0; c < 9; c++) {
        const double *from = links + 2 * ((mu * 9L + c) * volume + row);
        double *re = to->re[c / 3][c % 3], *im = to->im[c / 3][c % 3];
        for (int i = 0; i < n - shift; i++)
            re[i] = from[2 * (i + shift)], im[i] = from[2 * (i + shift) + 1];
        if (shift)
            re[n - 1] = from[0], im[n - 1] = from[1];
    }
}

static void vectors_of(Vectors *restrict to, const double *restrict in, long row, int n, long volume, int shift) {
    for (int c = 0; c < 3; c++) {
        const double *from = in + 2 * (c * volume + row);
        for (int i = MAX(0, -shift); i < MIN(n, n - shift); i++)
            to->re[c][i] = from[2 * (i + shift)], to->im[c][i] = from[2 * (i + shift) + 1];
        if (shift) {
            int edge = shift > 0 ? n - 1 : 0, source = shift > 0 ? 0 : n - 1;
            to->re[c][edge] = from[2 * source], to->im[c][edge] = from[2 * source + 1];
        }
    }
}

void run(const double *restrict links, const double *restrict in, double *restrict out, double *restrict mean, int nx,
         int ny, int nz, int nt, double mass) {
    const int n[4] = {nx, ny, nz, nt};
    const long volume = (long)nx * ny * nz * nt, stride[4] = {1, nx, (long)nx * ny, (long)nx * ny * nz};
    double plaquettes = 0;
    static Links u[4], up[4], back;
    static Vectors v, sum;
    for (long row = 0; row < volume; row += nx) {
        int x[4] = {0, row / stride[1] % ny, row / stride[2] % nz, row / stride[3]};
        long forth[4] = {row}, behind[4] = {row};
        for (int d = 1; d < 4; d++) {
            forth[d] = row + (x[d] + 1 < n[d] ? stride[d] : -(n[d] - 1) * stride[d]);
            behind[d] = row - (x[d] > 0 ? stride[d] : -(n[d] - 1) * stride[d]);
        }
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < nx; i++) {
                sum.re[c][i] = mass * in[2 * (c * volume + row + i)];
                sum.im[c][i] = mass * in[2 * (c * volume + row + i) + 1];
            }
        for (int mu = 0; mu < 4; mu++) {
            links_of(u + mu, links, mu, row, nx, volume, 0);
            // eta: the sign of the coordinates before mu, of which x changes along the row.
            double eta[MOST];
            for (int i = 0; i < nx; i++) {
                int before = mu == 0 ? 0 : i + (mu > 1 ? x[1] : 0) + (mu > 2 ? x[2] : 0);
                eta[i] = before & 1 ? -0.5 : 0.5;
            }
            vectors_of(&v, in, forth[mu], nx, volume, mu == 0);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
#pragma omp simd
                    for (int i = 0; i < nx; i++) {
                        double a = u[mu].re[r][c][i], b = u[mu].im[r][c][i], p = v.re[c][i], q = v.im[c][i];
                        sum.re[r][i] += eta[i] * (a * p - b * q);
                        sum.im[r][i] += eta[i] * (a * q + b * p);
                    }
                }
            vectors_of(&v, in, behind[mu], nx, volume, -(mu == 0));
            links_of(&back, links, mu, behind[mu], nx, volume, 0);
            if (mu == 0)
                for (int c = 0; c < 9; c++) {
                    double *re = back.re[c / 3][c % 3], *im = back.im[c / 3][c % 3], a = re[nx - 1], b = im[nx - 1];
                    memmove(re + 1, re, (nx - 1) * sizeof(double));
                    memmove(im + 1, im, (nx - 1) * sizeof(double));
                    re[0] = a, im[0] = b;
                }
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
#pragma omp simd
                    for (int i = 0; i < nx; i++) {
                        double a = back.re[c][r][i], b = -back.im[c][r][i], p = v.re[c][i], q = v.im[c][i];
                        sum.re[r][i] -= eta[i] * (a * p - b * q);
                        sum.im[r][i] -= eta[i] * (a * q + b * p);
                    }
                }
        }
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < nx; i++) {
                out[2 * (c * volume + row + i)] = sum.re[c][i];
                out[2 * (c * volume + row + i) + 1] = sum.im[c][i];
            }
        for (int mu = 0; mu < 3; mu++)
            for (int nu = mu + 1; nu < 4; nu++) {
                links_of(up, links, nu, forth[mu], nx, volume, mu == 0);
                links_of(up + 1, links, mu, forth[nu], nx, volume, 0);
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 3; c++) {
#pragma omp simd reduction(+ : plaquettes)
                        for (int i = 0; i < nx; i++) {
                            double a = 0, b = 0, p = 0, q = 0;
                            for (int k = 0; k < 3; k++) {
                                double e = u[mu].re[r][k][i], f = u[mu].im[r][k][i];
                                double g = up[0].re[k][c][i], h = up[0].im[k][c][i];
                                a += e * g - f * h, b += e * h + f * g;
                                e = u[nu].re[r][k][i], f = u[nu].im[r][k][i];
                                g = up[1].re[k][c][i], h = up[1].im[k][c][i];
                                p += e * g - f * h, q += e * h + f * g;
                            }
                            plaquettes += a * p + b * q;
                        }
                    }
            }
    }
    *mean = plaquettes / (18.0 * volume);
}

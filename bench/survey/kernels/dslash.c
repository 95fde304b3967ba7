// out = in - kappa D in with Wilson's hopping term, a row of sites in x at a time: rows are brought into parts
#include "native.h"
enum { ROW = 32 };  // the longest

typedef float Row[ROW];

__attribute__((always_inline)) static inline void hop(const float *restrict in, const float *restrict links, int volume,
                                                      int nx, int row, int other, int mu, int forward,
                                                      Row (*restrict sum)[3][2]) {
    Row p[4][3][2], u[3][3][2], half[2][3][2];
    float s = forward ? -1 : 1;
    int shift = mu == 0 ? (forward ? 1 : nx - 1) : 0;
    for (int k = 0; k < 12; k++) {
        const float *from = in + 2 * ((size_t)k * volume + other);
        float *re = p[k / 3][k % 3][0], *im = p[k / 3][k % 3][1];
        for (int x = 0; x < nx - shift; x++) {
            re[x] = from[2 * (x + shift)];
            im[x] = from[2 * (x + shift) + 1];
        }
        for (int x = nx - shift; x < nx; x++) {
            re[x] = from[2 * (x + shift - nx)];
            im[x] = from[2 * (x + shift - nx) + 1];
        }
    }
    for (int k = 0; k < 9; k++) {
        const float *from = links + 2 * ((size_t)(mu * 9 + k) * volume + (forward ? row : other));
        int a = forward ? k / 3 : k % 3, b = forward ? k % 3 : k / 3, turn = forward ? 0 : shift;
        float *re = u[a][b][0], *im = u[a][b][1];
        for (int x = 0; x < nx - turn; x++) {
            re[x] = from[2 * (x + turn)];
            im[x] = -s * from[2 * (x + turn) + 1];
        }
        for (int x = nx - turn; x < nx; x++) {
            re[x] = from[2 * (x + turn - nx)];
            im[x] = -s * from[2 * (x + turn - nx) + 1];
        }
    }
    for (int c = 0; c < 3; c++)
#pragma omp simd
        for (int x = 0; x < nx; x++)
            switch (mu) {
            case 0:
                half[0][c][0][x] = p[0][c][0][x] - s * p[3][c][1][x];
                half[0][c][1][x] = p[0][c][1][x] + s * p[3][c][0][x];
                half[1][c][0][x] = p[1][c][0][x] - s * p[2][c][1][x];
                half[1][c][1][x] = p[1][c][1][x] + s * p[2][c][0][x];
                break;
            case 1:
                half[0][c][0][x] = p[0][c][0][x] - s * p[3][c][0][x];
                half[0][c][1][x] = p[0][c][1][x] - s * p[3][c][1][x];
                half[1][c][0][x] = p[1][c][0][x] + s * p[2][c][0][x];
                half[1][c][1][x] = p[1][c][1][x] + s * p[2][c][1][x];
                break;
            case 2:
                half[0][c][0][x] = p[0][c][0][x] - s * p[2][c][1][x];
                half[0][c][1][x] = p[0][c][1][x] + s * p[2][c][0][x];
                half[1][c][0][x] = p[1][c][0][x] + s * p[3][c][1][x];
                half[1][c][1][x] = p[1][c][1][x] - s * p[3][c][0][x];
                break;
            default:
                half[0][c][0][x] = p[0][c][0][x] + s * p[2][c][0][x];
                half[0][c][1][x] = p[0][c][1][x] + s * p[2][c][1][x];
                half[1][c][0][x] = p[1][c][0][x] + s * p[3][c][0][x];
                half[1][c][1][x] = p[1][c][1][x] + s * p[3][c][1][x];
            }
    for (int a = 0; a < 3; a++)
#pragma omp simd
        for (int x = 0; x < nx; x++) {
#define RE(h) (u0 * half[h][0][0][x] - v0 * half[h][0][1][x] + u1 * half[h][1][0][x] - v1 * half[h][1][1][x] + \
               u2 * half[h][2][0][x] - v2 * half[h][2][1][x])
#define IM(h) (u0 * half[h][0][1][x] + v0 * half[h][0][0][x] + u1 * half[h][1][1][x] + v1 * half[h][1][0][x] + \
               u2 * half[h][2][1][x] + v2 * half[h][2][0][x])
            float u0 = u[a][0][0][x], u1 = u[a][1][0][x], u2 = u[a][2][0][x];
            float v0 = u[a][0][1][x], v1 = u[a][1][1][x], v2 = u[a][2][1][x];
            float re0 = RE(0), im0 = IM(0), re1 = RE(1), im1 = IM(1);
            sum[0][a][0][x] += re0, sum[0][a][1][x] += im0;
            sum[1][a][0][x] += re1, sum[1][a][1][x] += im1;
            switch (mu) {
            case 0:
                sum[2][a][0][x] += s * im1, sum[2][a][1][x] -= s * re1;
                sum[3][a][0][x] += s * im0, sum[3][a][1][x] -= s * re0;
                break;
            case 1:
                sum[2][a][0][x] += s * re1, sum[2][a][1][x] += s * im1;
                sum[3][a][0][x] -= s * re0, sum[3][a][1][x] -= s * im0;
                break;
            case 2:
                sum[2][a][0][x] += s * im0, sum[2][a][1][x] -= s * re0;
                sum[3][a][0][x] -= s * im1, sum[3][a][1][x] += s * re1;
                break;
            default:
                sum[2][a][0][x] += s * re0, sum[2][a][1][x] += s * im0;
                sum[3][a][0][x] += s * re1, sum[3][a][1][x] += s * im1;
            }
        }
}

static void apply(const float *restrict in, const float *restrict links, float *restrict out, int nx, int ny, int nz,
                  int nt, float kappa) {
    int volume = nx * ny * nz * nt;
    for (int t = 0; t < nt; t++)
        for (int z = 0; z < nz; z++)
            for (int y = 0; y < ny; y++) {
                Row sum[4][3][2] = {0};
#define AT(y, z, t) (((t)*nz + (z)) * ny + (y)) * nx
                int row = AT(y, z, t);
                hop(in, links, volume, nx, row, row, 0, 1, sum);
                hop(in, links, volume, nx, row, row, 0, 0, sum);
                hop(in, links, volume, nx, row, AT(y + 1 < ny ? y + 1 : 0, z, t), 1, 1, sum);
                hop(in, links, volume, nx, row, AT(y ? y - 1 : ny - 1, z, t), 1, 0, sum);
                hop(in, links, volume, nx, row, AT(y, z + 1 < nz ? z + 1 : 0, t), 2, 1, sum);
                hop(in, links, volume, nx, row, AT(y, z ? z - 1 : nz - 1, t), 2, 0, sum);
                hop(in, links, volume, nx, row, AT(y, z, t + 1 < nt ? t + 1 : 0), 3, 1, sum);
                hop(in, links, volume, nx, row, AT(y, z, t ? t - 1 : nt - 1), 3, 0, sum);
                for (int k = 0; k < 12; k++) {
                    size_t at = 2 * ((size_t)k * volume + row);
                    for (int x = 0; x < nx; x++) {
                        out[at + 2 * x] = in[at + 2 * x] - kappa * sum[k / 3][k % 3][0][x];
                        out[at + 2 * x + 1] = in[at + 2 * x + 1] - kappa * sum[k / 3][k % 3][1][x];
                    }
                }
            }
}

void run(const float *restrict in, const float *restrict links, float *restrict once, float *restrict twice, int nx,
         int ny, int nz, int nt, float kappa) {
    apply(in, links, once, nx, ny, nz, nt, kappa);
    apply(once, links, twice, nx, ny, nz, nt, kappa);
}

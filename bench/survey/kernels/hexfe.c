// Finite elements: matrices of hexahedra with eight nodes, made eight at a time, added to a sparse matrix.
#include "native.h"

enum { N = 8, W = 8 };

static inline int place(const int *columns, int first, int last, int wanted) {
    while (first < last) {
        int middle = first + (last - first) / 2;
        if (columns[middle] < wanted)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

void run(const int *restrict nodes, const double *restrict coords, const int *restrict row,
         const int *restrict columns, double *restrict coefs, double *restrict rhs, int elements,
         double conductivity) {
    static const double sign[3][N] = {
        {-1, 1, 1, -1, -1, 1, 1, -1}, {-1, -1, 1, 1, -1, -1, 1, 1}, {-1, -1, -1, -1, 1, 1, 1, 1}};
    const double at = 0.577350269189625764;
    double grads[8][N][3], values[8][N];
    for (int g = 0; g < 8; g++)
        for (int n = 0; n < N; n++) {
            double x = g & 4 ? at : -at, y = g & 2 ? at : -at, z = g & 1 ? at : -at;
            double fx = 1 + sign[0][n] * x, fy = 1 + sign[1][n] * y, fz = 1 + sign[2][n] * z;
            values[g][n] = 0.125 * fx * fy * fz;
            grads[g][n][0] = 0.125 * sign[0][n] * fy * fz;
            grads[g][n][1] = 0.125 * sign[1][n] * fx * fz;
            grads[g][n][2] = 0.125 * sign[2][n] * fx * fy;
        }
    for (int first = 0; first < elements; first += W) {
        int lanes = MIN(W, elements - first);
        double c[N][3][W], matrix[N][N][W] = {0}, source[N][W] = {0};
        for (int n = 0; n < N; n++)
            for (int i = 0; i < W; i++)
                for (int d = 0; d < 3; d++)
                    c[n][d][i] = coords[3 * nodes[n * elements + first + MIN(i, lanes - 1)] + d];
        for (int g = 0; g < 8; g++) {
            double j[3][3][W] = {0}, weight[W], d[N][3][W];
            for (int n = 0; n < N; n++)
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b < 3; b++)
                        for (int i = 0; i < W; i++)
                            j[a][b][i] += grads[g][n][a] * c[n][b][i];
#pragma omp simd
            for (int i = 0; i < W; i++) {
                double j0 = j[0][0][i], j1 = j[0][1][i], j2 = j[0][2][i], j3 = j[1][0][i], j4 = j[1][1][i];
                double j5 = j[1][2][i], j6 = j[2][0][i], j7 = j[2][1][i], j8 = j[2][2][i];
                double c0 = j4 * j8 - j5 * j7, c3 = j5 * j6 - j3 * j8, c6 = j3 * j7 - j4 * j6;
                double det = j0 * c0 + j1 * c3 + j2 * c6, r = 1 / det;
                double inverse[3][3] = {{c0 * r, (j2 * j7 - j1 * j8) * r, (j1 * j5 - j2 * j4) * r},
                                        {c3 * r, (j0 * j8 - j2 * j6) * r, (j2 * j3 - j0 * j5) * r},
                                        {c6 * r, (j1 * j6 - j0 * j7) * r, (j0 * j4 - j1 * j3) * r}};
                for (int n = 0; n < N; n++)
                    for (int a = 0; a < 3; a++)
                        d[n][a][i] = inverse[a][0] * grads[g][n][0] + inverse[a][1] * grads[g][n][1] +
                                     inverse[a][2] * grads[g][n][2];
                weight[i] = det;
            }
            for (int m = 0; m < N; m++) {
                for (int i = 0; i < W; i++)
                    source[m][i] += values[g][m] * weight[i];
                for (int n = m; n < N; n++)
                    for (int i = 0; i < W; i++) {
                        double dot = d[m][0][i] * d[n][0][i] + d[m][1][i] * d[n][1][i] + d[m][2][i] * d[n][2][i];
                        matrix[m][n][i] += conductivity * weight[i] * dot;
                    }
            }
        }
        for (int i = 0; i < lanes; i++)
            for (int m = 0; m < N; m++) {
                int r = nodes[m * elements + first + i];
                rhs[r] += source[m][i];
                for (int n = 0; n < N; n++) {
                    int wanted = nodes[n * elements + first + i];
                    int to = place(columns, row[r], row[r + 1], wanted);
                    if (to < row[r + 1] && columns[to] == wanted)
                        coefs[to] += matrix[MIN(m, n)][MAX(m, n)][i];
                }
            }
    }
}

#include "native.h"
#define N 24

void run(const double *restrict a, double *restrict out, int n) {
    for (int b = 0; b < n; b++) {
        double m[N][2 * N];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                m[i][j] = a[(b * N + i) * N + j];
                m[i][N + j] = i == j;
            }
        for (int k = 0; k < N; k++) {
            int p = k;
            for (int i = k + 1; i < N; i++)
                if (fabs(m[i][k]) > fabs(m[p][k]))
                    p = i;
            if (p != k)
                for (int j = 0; j < 2 * N; j++) {
                    double x = m[k][j];
                    m[k][j] = m[p][j];
                    m[p][j] = x;
                }
            double d = m[k][k];
            for (int j = 0; j < 2 * N; j++)
                m[k][j] /= d;
            for (int row = 0; row < N; row++)
                if (row != k) {
                    double f = m[row][k];
                    for (int j = 0; j < 2 * N; j++)
                        m[row][j] -= f * m[k][j];
                }
        }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                out[(b * N + i) * N + j] = m[i][N + j];
    }
}

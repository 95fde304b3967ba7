// Exact determinants by Bareiss' elimination.
#include "native.h"
enum { N = 8 };

void run(const int *restrict matrices, long long *restrict result, int *restrict singular, int count) {
    int zeros = 0;
    for (int id = 0; id < count; id++) {
        const int *from = matrices + (size_t)id * N * N;
        long long a[N][N], previous = 1;
        int sign = 1;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                a[i][j] = from[i * N + j];
        for (int k = 0; k < N - 1; k++) {
            int p = k;
            while (p < N && a[p][k] == 0)
                p++;
            if (p == N) {
                sign = 0;
                break;
            }
            if (p != k) {
                for (int j = k; j < N; j++) {
                    long long t = a[k][j];
                    a[k][j] = a[p][j];
                    a[p][j] = t;
                }
                sign = -sign;
            }
            for (int i = k + 1; i < N; i++)
                for (int j = k + 1; j < N; j++) {
                    __int128 minor = (__int128)a[i][j] * a[k][k] - (__int128)a[i][k] * a[k][j];
                    a[i][j] = minor / previous;
                }
            previous = a[k][k];
        }
        result[id] = sign * a[N - 1][N - 1];
        zeros += result[id] == 0;
    }
    *singular += zeros;
}

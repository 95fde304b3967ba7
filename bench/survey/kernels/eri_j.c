// The Coulomb matrix: pairs as one array for each of their parts, integrals in vectors.
#include "native.h"
enum { TERMS = 6 };

typedef struct {
    double x, y, z, p, k, bound;
    int a, b;
} Pair;

void run(const Pair *restrict pairs, const double *restrict density, const double *restrict table, double *restrict j,
         int n, int functions, double threshold) {
    double *room = malloc(6L * n * sizeof(double));
    double *restrict x = room, *restrict y = x + n, *restrict z = y + n, *restrict p = z + n, *restrict k = p + n;
    for (int i = 0; i < n; i++) {
        x[i] = pairs[i].x, y[i] = pairs[i].y, z[i] = pairs[i].z, p[i] = pairs[i].p;
        k[i] = 34.986836655249725 * pairs[i].k * (pairs[i].a == pairs[i].b ? 1 : 2) *
               density[pairs[i].a * functions + pairs[i].b];
    }
    memset(j, 0, (long)functions * functions * sizeof(double));
    for (int at = 0; at < n; at++) {
        Pair bra = pairs[at];
        int end = 0, high = n;
        while (end < high) {  // the first that is below the bound
            int mid = (end + high) / 2;
            if (bra.bound * pairs[mid].bound < threshold)
                high = mid;
            else
                end = mid + 1;
        }
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < end; i++) {
            double dx = bra.x - x[i], dy = bra.y - y[i], dz = bra.z - z[i];
            double total = bra.p + p[i], product = bra.p * p[i], inv = 1 / (product * sqrt(total));
            double t = product / total * (dx * dx + dy * dy + dz * dz), near = t < 28 ? t : 28;
            int row = near * 10 + 0.5;
            double d = row * 0.1 - near;
            const double *f = table + row * TERMS;
            double boys = f[0] + d * (f[1] + d / 2 * (f[2] + d / 3 * (f[3] + d / 4 * (f[4] + d / 5 * f[5]))));
            boys = t < 28 ? boys : 0.88622692545275801 / sqrt(t);
            sum += inv * k[i] * boys;
        }
        sum *= bra.k;
        j[bra.a * functions + bra.b] += sum;
        if (bra.a != bra.b)
            j[bra.b * functions + bra.a] += sum;
    }
    free(room);
}

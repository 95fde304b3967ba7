// Stillinger-Weber: an atom's neighbours in reach are worked out once, then pairs of them.
#include "native.h"
enum { BLOCK = 128, MOST = 64 };

typedef struct {
    double x, y, z;
} V;

void run(const V *restrict p, const int *restrict counts, const int *restrict neighbours, V *restrict f,
         double *restrict block_energy, int n, double lx, double ly, double lz, double A, double B, double epsilon,
         double sigma, double a, double lambda, double gamma) {
    const double reach = a * sigma, ix = 1 / lx, iy = 1 / ly, iz = 1 / lz;
    memset(f, 0, n * sizeof(V));
    memset(block_energy, 0, (n + BLOCK - 1) / BLOCK * sizeof(double));
    for (int i = 0; i < n; i++) {
        V d[MOST], mine = {0};
        double r[MOST], g[MOST], slope[MOST], energy = 0;
        int who[MOST], near = 0;
        for (int jj = 0; jj < counts[i]; jj++) {
            int j = neighbours[(long)jj * n + i];
            double x = p[j].x - p[i].x, y = p[j].y - p[i].y, z = p[j].z - p[i].z;
            x -= lx * rint(x * ix), y -= ly * rint(y * iy), z -= lz * rint(z * iz);
            double r2 = x * x + y * y + z * z;
            if (r2 >= reach * reach)
                continue;
            double length = sqrt(r2), inv = 1 / (length - reach), s2 = sigma * sigma / r2, s4 = B * s2 * s2;
            double e = A * epsilon * exp(sigma * inv);
            energy += 0.5 * e * (s4 - 1);
            double s = e * (-4 * s4 / length - (s4 - 1) * sigma * inv * inv) / length;
            mine.x += s * x, mine.y += s * y, mine.z += s * z;
            d[near] = (V){x, y, z};
            r[near] = length;
            g[near] = exp(gamma * sigma * inv);
            slope[near] = -gamma * sigma * inv * inv;
            who[near++] = j;
        }
        for (int j = 0; j < near; j++) {
            V sum = {0};
            for (int k = j + 1; k < near; k++) {
                double c = (d[j].x * d[k].x + d[j].y * d[k].y + d[j].z * d[k].z) / (r[j] * r[k]), off = c + 1.0 / 3;
                double h = lambda * epsilon * g[j] * g[k], dc = 2 * h * off;
                energy += h * off * off;
                double jj = h * off * off * slope[j] / r[j] - dc * c / (r[j] * r[j]);
                double kk = h * off * off * slope[k] / r[k] - dc * c / (r[k] * r[k]), jk = dc / (r[j] * r[k]);
                V fj = {-(jj * d[j].x + jk * d[k].x), -(jj * d[j].y + jk * d[k].y), -(jj * d[j].z + jk * d[k].z)};
                V fk = {-(kk * d[k].x + jk * d[j].x), -(kk * d[k].y + jk * d[j].y), -(kk * d[k].z + jk * d[j].z)};
                sum.x += fj.x, sum.y += fj.y, sum.z += fj.z;
                V *to = f + who[k];
                to->x += fk.x, to->y += fk.y, to->z += fk.z;
                mine.x -= fj.x + fk.x, mine.y -= fj.y + fk.y, mine.z -= fj.z + fk.z;
            }
            V *to = f + who[j];
            to->x += sum.x, to->y += sum.y, to->z += sum.z;
        }
        f[i].x += mine.x, f[i].y += mine.y, f[i].z += mine.z;
        block_energy[i / BLOCK] += energy;
    }
}

#include "native.h"

// Forces between atoms in clusters of eight: the partners' eight atoms are a vector.
enum { CL = 8, TYPES = 4 };
typedef struct {
    int cluster, shift, first, last;
} Entry;
typedef struct {
    int cluster;
    uint mask[2];
} Partner;

static const float C6[16] = {.0026f, .0021f, .0012f, .0017f, .0021f, .0018f, .0010f, .0014f,
                             .0012f, .0010f, .0006f, .0008f, .0017f, .0014f, .0008f, .0011f};
static const float C12[16] = {2.6e-6f, 2.0e-6f, .9e-6f, 1.5e-6f, 2.0e-6f, 1.6e-6f, .7e-6f, 1.2e-6f,
                              .9e-6f,  .7e-6f,  .3e-6f, .5e-6f,  1.5e-6f, 1.2e-6f, .5e-6f, .9e-6f};

void run(const Entry *restrict entries, const Partner *restrict partners, const float *restrict xq,
         const int *restrict types, const float *restrict shifts, float *restrict force, float *restrict energies,
         int count, float epsfac, float k_rf, float c_rf, float cutoff2) {
    double total_lj = 0, total_el = 0;
    for (int e = 0; e < count; e++) {
        Entry entry = entries[e];
        const float *shift = shifts + 3 * entry.shift;
        float fi[CL][3] = {0}, e_lj[CL] = {0}, e_el[CL] = {0};
        for (int p = entry.first; p < entry.last; p++) {
            const Partner *partner = partners + p;
            int aj = partner->cluster * CL;
            ull mask = (ull)partner->mask[1] << 32 | partner->mask[0];
            float xj[CL], yj[CL], zj[CL], qj[CL], fx[CL] = {0}, fy[CL] = {0}, fz[CL] = {0};
            int tj[CL], on[CL];
            for (int j = 0; j < CL; j++) {
                xj[j] = xq[4 * (aj + j)];
                yj[j] = xq[4 * (aj + j) + 1];
                zj[j] = xq[4 * (aj + j) + 2];
                qj[j] = xq[4 * (aj + j) + 3];
                tj[j] = types[aj + j];
            }
            for (int j = 0; j < CL; j++)
                on[j] = mask >> (8 * j) & 255;
            for (int i = 0; i < CL; i++) {
                const float *at = xq + 4 * (entry.cluster * CL + i);
                float xi = at[0] + shift[0], yi = at[1] + shift[1], zi = at[2] + shift[2], qi = epsfac * at[3];
                const float *c6 = C6 + types[entry.cluster * CL + i] * TYPES;
                const float *c12 = C12 + types[entry.cluster * CL + i] * TYPES;
                float sx = 0, sy = 0, sz = 0;
#pragma omp simd reduction(+ : sx, sy, sz)
                for (int j = 0; j < CL; j++) {
                    float dx = xi - xj[j], dy = yi - yj[j], dz = zi - zj[j], r2 = dx * dx + dy * dy + dz * dz;
                    int use = (on[j] >> i & 1) & (r2 < cutoff2);
                    r2 = r2 > 1e-6f ? r2 : 1e-6f;
                    float inv = 1 / sqrtf(r2), inv2 = inv * inv, inv6 = inv2 * inv2 * inv2, qq = qi * qj[j];
                    float a = c6[tj[j]], b = c12[tj[j]];
                    float f = inv6 * (12 * b * inv6 - 6 * a) * inv2 + qq * (inv2 * inv - 2 * k_rf);
                    float lj = inv6 * (b * inv6 - a), el = qq * (inv + k_rf * r2 - c_rf);
                    f = use ? f : 0;
                    e_lj[j] += use ? lj : 0;
                    e_el[j] += use ? el : 0;
                    fx[j] -= f * dx;
                    fy[j] -= f * dy;
                    fz[j] -= f * dz;
                    sx += f * dx;
                    sy += f * dy;
                    sz += f * dz;
                }
                fi[i][0] += sx;
                fi[i][1] += sy;
                fi[i][2] += sz;
            }
            for (int j = 0; j < CL; j++) {
                force[3 * (aj + j)] += fx[j];
                force[3 * (aj + j) + 1] += fy[j];
                force[3 * (aj + j) + 2] += fz[j];
            }
        }
        for (int k = 0; k < 3 * CL; k++)
            force[3 * CL * entry.cluster + k] += fi[k / 3][k % 3];
        for (int j = 0; j < CL; j++) {
            total_lj += e_lj[j];
            total_el += e_el[j];
        }
    }
    energies[0] = total_lj;
    energies[1] = total_el;
}

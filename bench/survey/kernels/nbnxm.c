#include "native.h"

// Forces between atoms in clusters of eight: all 64 pairs of two clusters side by side.
enum { CL = 8, TYPES = 4, PAIRS = CL * CL };
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
        float xi[PAIRS], yi[PAIRS], zi[PAIRS], qi[PAIRS], fx[PAIRS] = {0}, fy[PAIRS] = {0}, fz[PAIRS] = {0};
        float e_lj[PAIRS] = {0}, e_el[PAIRS] = {0};
        int ti[PAIRS];
        for (int t = 0; t < PAIRS; t++) {
            int ai = entry.cluster * CL + t % CL;
            xi[t] = xq[4 * ai] + shift[0];
            yi[t] = xq[4 * ai + 1] + shift[1];
            zi[t] = xq[4 * ai + 2] + shift[2];
            qi[t] = epsfac * xq[4 * ai + 3];
            ti[t] = types[ai] * TYPES;
        }
        for (int p = entry.first; p < entry.last; p++) {
            const Partner *partner = partners + p;
            int aj = partner->cluster * CL, tj[PAIRS];
            float on[PAIRS], xj[PAIRS], yj[PAIRS], zj[PAIRS], qj[PAIRS], gx[PAIRS], gy[PAIRS], gz[PAIRS];
            for (int j = 0; j < CL; j++) {
                const float *at = xq + 4 * (aj + j);
                uint bits = partner->mask[j / 4] >> (8 * (j % 4));
                for (int i = 0; i < CL; i++) {
                    int t = CL * j + i;
                    xj[t] = at[0], yj[t] = at[1], zj[t] = at[2], qj[t] = at[3];
                    tj[t] = types[aj + j];
                    on[t] = (int)(bits >> i & 1);
                }
            }
#pragma omp simd
            for (int t = 0; t < PAIRS; t++) {
                float dx = xi[t] - xj[t], dy = yi[t] - yj[t], dz = zi[t] - zj[t], r2 = dx * dx + dy * dy + dz * dz;
                float use = r2 < cutoff2 ? on[t] : 0;
                r2 = r2 > 1e-6f ? r2 : 1e-6f;
                float inv = 1 / sqrtf(r2), inv2 = inv * inv, inv6 = inv2 * inv2 * inv2, qq = qi[t] * qj[t];
                float a = C6[ti[t] + tj[t]], b = C12[ti[t] + tj[t]];
                float f = inv6 * (12 * b * inv6 - 6 * a) * inv2 + qq * (inv2 * inv - 2 * k_rf);
                float lj = inv6 * (b * inv6 - a), el = qq * (inv + k_rf * r2 - c_rf);
                f *= use;
                e_lj[t] += use * lj;
                e_el[t] += use * el;
                gx[t] = f * dx;
                gy[t] = f * dy;
                gz[t] = f * dz;
                fx[t] += gx[t];
                fy[t] += gy[t];
                fz[t] += gz[t];
            }
            for (int j = 0; j < CL; j++) {
                float sx = 0, sy = 0, sz = 0;
#pragma omp simd reduction(+ : sx, sy, sz)
                for (int i = 0; i < CL; i++) {
                    sx += gx[CL * j + i];
                    sy += gy[CL * j + i];
                    sz += gz[CL * j + i];
                }
                force[3 * (aj + j)] -= sx;
                force[3 * (aj + j) + 1] -= sy;
                force[3 * (aj + j) + 2] -= sz;
            }
        }
        for (int t = 0; t < PAIRS; t++) {
            float *f = force + 3 * (entry.cluster * CL + t % CL);
            f[0] += fx[t];
            f[1] += fy[t];
            f[2] += fz[t];
            total_lj += e_lj[t];
            total_el += e_el[t];
        }
    }
    energies[0] = total_lj;
    energies[1] = total_el;
}

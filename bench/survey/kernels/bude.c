// Energies of docking: a ligand in many poses by a protein, poses side by side.
#include "native.h"

enum { W = 64 };

typedef struct {
    float x, y, z;
    int type;
} Atom;

typedef struct {
    int hbtype;
    float radius, hphb, elsc;
} Params;

void run(const Atom *restrict protein, const Atom *restrict ligand, const float *restrict a0,
         const float *restrict a1, const float *restrict a2, const float *restrict t0, const float *restrict t1,
         const float *restrict t2, float *restrict energies, const Params *restrict field, int natlig, int natpro,
         int poses) {
    for (int first = 0; first < poses; first += W) {
        int lanes = MIN(W, poses - first);
        float m[3][4][W] = {0}, sum[W] = {0};
        for (int i = 0; i < lanes; i++) {
            int p = first + i;
            float sx = sinf(a0[p]), cx = cosf(a0[p]), sy = sinf(a1[p]), cy = cosf(a1[p]);
            float sz = sinf(a2[p]), cz = cosf(a2[p]);
            float rows[3][4] = {{cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz, t0[p]},
                                {cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz, t1[p]},
                                {-sy, sx * cy, cx * cy, t2[p]}};
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 4; c++)
                    m[r][c][i] = rows[r][c];
        }
        for (int il = 0; il < natlig; il++) {
            Atom a = ligand[il];
            Params l = field[a.type];
            float at[3][W];
            for (int r = 0; r < 3; r++)
                for (int i = 0; i < W; i++)
                    at[r][i] = m[r][3][i] + a.x * m[r][0][i] + a.y * m[r][1][i] + a.z * m[r][2][i];
            for (int ip = 0; ip < natpro; ip++) {
                Atom b = protein[ip];
                Params p = field[b.type];
                float radij = p.radius + l.radius, r_radij = 1 / radij;
                int both_f = p.hbtype == 70 && l.hbtype == 70, type_e = p.hbtype == 69 || l.hbtype == 69;
                float elcdst = both_f ? 4 : 2, elcdst1 = both_f ? 0.25f : 0.5f;
                float p_hphb = p.hphb < 0 && l.hphb > 0 ? -p.hphb : p.hphb;
                float l_hphb = p.hphb > 0 && l.hphb < 0 ? -l.hphb : l.hphb;
                float reach = p.hphb < 0 ? (l.hphb < 0 ? 5.5f : 1) : (l.hphb < 0 ? 1 : -1e30f), r_reach = 1 / reach;
                float charge = 45 * l.elsc * p.elsc, solvation = p.hphb != 0 ? p_hphb + l_hphb : 0;
                float solvation_near = reach > 0 ? solvation : 0;  // for what overlaps
                charge = type_e ? -fabsf(charge) : charge;
#pragma omp simd
                for (int i = 0; i < W; i++) {
                    float x = at[0][i] - b.x, y = at[1][i] - b.y, z = at[2][i] - b.z;
                    float far = sqrtf(x * x + y * y + z * z), gap = far - radij;
                    float steric = (1 - far * r_radij) * 76, c = 1 - gap * elcdst1, d = 1 - gap * r_reach;
                    float charged = charge * (gap < elcdst ? c : 0), solved = solvation * (gap < reach ? d : 0);
                    float inside = steric + charge + solvation_near, outside = charged + solved;
                    sum[i] += gap < 0 ? inside : outside;
                }
            }
        }
        for (int i = 0; i < lanes; i++)
            energies[first + i] = sum[i] * 0.5f;
    }
}

// Bonded forces: terms are worked out in vectors, 64 at a time, then their forces are added one after another.
#include "native.h"
enum { W = 64 };

__attribute__((simd("notinbranch"))) extern float atan2f(float, float);
__attribute__((simd("notinbranch"))) extern float cosf(float);

typedef struct {
    float k, delta;
    int multiplicity, pad;
} Dihedral;

#define DOT(a, b) (a##x * b##x + a##y * b##y + a##z * b##z)
#define WAY(d, p, q)                                                                                                   \
    float d##x = x[4 * (p)] - x[4 * (q)], d##y = x[4 * (p) + 1] - x[4 * (q) + 1], d##z = x[4 * (p) + 2] - x[4 * (q) + 2]
#define CROSS(c, a, b)                                                                                                 \
    float c##x = a##y * b##z - a##z * b##y, c##y = a##z * b##x - a##x * b##z, c##z = a##x * b##y - a##y * b##x

#define PUT(u, x, y, z) u[0][l] = x, u[1][l] = y, u[2][l] = z

static inline void push(float *restrict f, float u[3][W], int l) {
    f[0] += u[0][l], f[1] += u[1][l], f[2] += u[2][l];
}

void run(const float *restrict x, const int *restrict bonds, const int *restrict bond_type,
         const float *restrict bond_types, const int *restrict angles, const float *restrict angle_types,
         const int *restrict dihedrals, const uchar *restrict dihedral_type, const Dihedral *restrict dihedral_types,
         float *restrict f, double *restrict energy, int n, int nb, int na, int nd) {
    memset(f, 0, 4L * n * sizeof(float));
    double eb = 0, ea = 0, ed = 0;
    float u1[3][W], u2[3][W], u3[3][W], u4[3][W];
    for (int first = 0; first < nb; first += W) {
        int lanes = MIN(W, nb - first);
#pragma omp simd reduction(+ : eb)
        for (int l = 0; l < lanes; l++) {
            int t = first + l, type = bond_type[t];
            WAY(d, bonds[2 * t], bonds[2 * t + 1]);
            float k = bond_types[2 * type], r = sqrtf(DOT(d, d)), off = r - bond_types[2 * type + 1];
            float s = -2 * k * off / r;
            eb += k * off * off;
            PUT(u1, s * dx, s * dy, s * dz);
            PUT(u2, -s * dx, -s * dy, -s * dz);
        }
        for (int l = 0; l < lanes; l++) {
            push(f + 4 * bonds[2 * (first + l)], u1, l);
            push(f + 4 * bonds[2 * (first + l) + 1], u2, l);
        }
    }
    for (int first = 0; first < na; first += W) {
        int lanes = MIN(W, na - first);
#pragma omp simd reduction(+ : ea)
        for (int l = 0; l < lanes; l++) {
            const int *a = angles + 4 * (first + l);
            WAY(u, a[0], a[1]);
            WAY(v, a[2], a[1]);
            float ru = 1 / sqrtf(DOT(u, u)), rv = 1 / sqrtf(DOT(v, v)), c = DOT(u, v) * ru * rv;
            c = c > 1 ? 1 : c;
            c = c < -1 ? -1 : c;
            float sine = sqrtf(1 - c * c), k = angle_types[2 * a[3]], off = atan2f(sine, c) - angle_types[2 * a[3] + 1];
            sine = sine > 1e-3f ? sine : 1e-3f;
            ea += k * off * off;
            float s = 2 * k * off / sine, uu = -s * c * ru * ru, vv = -s * c * rv * rv, uv = s * ru * rv;
            float ix = uu * ux + uv * vx, iy = uu * uy + uv * vy, iz = uu * uz + uv * vz;
            float kx = vv * vx + uv * ux, ky = vv * vy + uv * uy, kz = vv * vz + uv * uz;
            PUT(u1, ix, iy, iz);
            PUT(u2, -ix - kx, -iy - ky, -iz - kz);
            PUT(u3, kx, ky, kz);
        }
        for (int l = 0; l < lanes; l++) {
            const int *a = angles + 4 * (first + l);
            push(f + 4 * a[0], u1, l);
            push(f + 4 * a[1], u2, l);
            push(f + 4 * a[2], u3, l);
        }
    }
    for (int first = 0; first < nd; first += W) {
        int lanes = MIN(W, nd - first);
#pragma omp simd reduction(+ : ed)
        for (int l = 0; l < lanes; l++) {
            const int *q = dihedrals + 4 * (first + l);
            const Dihedral *p = dihedral_types + dihedral_type[first + l];
            WAY(a, q[0], q[1]);
            WAY(b, q[2], q[1]);
            WAY(c, q[2], q[3]);
            CROSS(m, a, b);
            CROSS(w, b, c);
            float b2 = DOT(b, b), length = sqrtf(b2), phi = atan2f(length * DOT(a, w), DOT(m, w));
            float angle = p->multiplicity * phi - p->delta;
            ed += p->k * (1 + cosf(angle));
            float slope = -p->k * p->multiplicity * cosf(angle - 1.5707963f);
            float si = -slope * length / DOT(m, m), sl = slope * length / DOT(w, w);
            float pp = DOT(a, b) / b2, qq = DOT(c, b) / b2;
            float ym = (pp - 1) * si, yw = -qq * sl, zw = (qq - 1) * sl, zm = -pp * si;
            PUT(u1, si * mx, si * my, si * mz);
            PUT(u2, ym * mx + yw * wx, ym * my + yw * wy, ym * mz + yw * wz);
            PUT(u3, zw * wx + zm * mx, zw * wy + zm * my, zw * wz + zm * mz);
            PUT(u4, sl * wx, sl * wy, sl * wz);
        }
        for (int l = 0; l < lanes; l++) {
            const int *q = dihedrals + 4 * (first + l);
            push(f + 4 * q[0], u1, l);
            push(f + 4 * q[1], u2, l);
            push(f + 4 * q[2], u3, l);
            push(f + 4 * q[3], u4, l);
        }
    }
    energy[0] = eb, energy[1] = ea, energy[2] = ed;
}

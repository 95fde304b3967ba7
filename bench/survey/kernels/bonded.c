// Bonded forces, a term after another.
#include "native.h"

typedef struct {
    float x, y, z;
} V;

static inline V sub(const float *a, const float *b) {
    return (V){a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

static inline float dot(V a, V b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline V cross(V a, V b) {
    return (V){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline void push(float *restrict f, V v, float s) {
    f[0] += s * v.x, f[1] += s * v.y, f[2] += s * v.z;
}

typedef struct {
    float k, delta;
    int multiplicity, pad;
} Dihedral;

void run(const float *restrict x, const int *restrict bonds, const int *restrict bond_type,
         const float *restrict bond_types, const int *restrict angles, const float *restrict angle_types,
         const int *restrict dihedrals, const uchar *restrict dihedral_type, const Dihedral *restrict dihedral_types,
         float *restrict f, double *restrict energy, int n, int nb, int na, int nd) {
    memset(f, 0, 4L * n * sizeof(float));
    double eb = 0, ea = 0, ed = 0;
    for (int t = 0; t < nb; t++) {
        int i = bonds[2 * t], j = bonds[2 * t + 1];
        const float *p = bond_types + 2 * bond_type[t];
        V d = sub(x + 4 * i, x + 4 * j);
        float r = sqrtf(dot(d, d)), off = r - p[1], s = -2 * p[0] * off / r;
        eb += p[0] * off * off;
        push(f + 4 * i, d, s);
        push(f + 4 * j, d, -s);
    }
    for (int t = 0; t < na; t++) {
        const int *a = angles + 4 * t;
        const float *p = angle_types + 2 * a[3];
        V u = sub(x + 4 * a[0], x + 4 * a[1]), v = sub(x + 4 * a[2], x + 4 * a[1]);
        float ru = 1 / sqrtf(dot(u, u)), rv = 1 / sqrtf(dot(v, v)), c = dot(u, v) * ru * rv;
        c = c > 1 ? 1 : c < -1 ? -1 : c;
        float sine = sqrtf(1 - c * c), off = acosf(c) - p[1];
        sine = sine > 1e-3f ? sine : 1e-3f;
        ea += p[0] * off * off;
        float s = 2 * p[0] * off / sine, uu = -s * c * ru * ru, vv = -s * c * rv * rv, uv = s * ru * rv;
        V fi = {uu * u.x + uv * v.x, uu * u.y + uv * v.y, uu * u.z + uv * v.z};
        V fk = {vv * v.x + uv * u.x, vv * v.y + uv * u.y, vv * v.z + uv * u.z};
        push(f + 4 * a[0], fi, 1);
        push(f + 4 * a[2], fk, 1);
        push(f + 4 * a[1], (V){fi.x + fk.x, fi.y + fk.y, fi.z + fk.z}, -1);
    }
    for (int t = 0; t < nd; t++) {
        const int *q = dihedrals + 4 * t;
        Dihedral p = dihedral_types[dihedral_type[t]];
        V b1 = sub(x + 4 * q[0], x + 4 * q[1]), b2 = sub(x + 4 * q[2], x + 4 * q[1]);
        V b3 = sub(x + 4 * q[2], x + 4 * q[3]), m = cross(b1, b2), w = cross(b2, b3);
        float length = sqrtf(dot(b2, b2)), phi = atan2f(length * dot(b1, w), dot(m, w));
        float sine, cosine;
        sincosf(p.multiplicity * phi - p.delta, &sine, &cosine);
        ed += p.k * (1 + cosine);
        float slope = -p.k * p.multiplicity * sine, si = -slope * length / dot(m, m), sl = slope * length / dot(w, w);
        float pp = dot(b1, b2) / (length * length), qq = dot(b3, b2) / (length * length);
        push(f + 4 * q[0], m, si);
        push(f + 4 * q[3], w, sl);
        V y = {(pp - 1) * si * m.x - qq * sl * w.x, (pp - 1) * si * m.y - qq * sl * w.y,
               (pp - 1) * si * m.z - qq * sl * w.z};
        push(f + 4 * q[1], y, 1);
        V z = {(qq - 1) * sl * w.x - pp * si * m.x, (qq - 1) * sl * w.y - pp * si * m.y,
               (qq - 1) * sl * w.z - pp * si * m.z};
        push(f + 4 * q[2], z, 1);
    }
    energy[0] = eb, energy[1] = ea, energy[2] = ed;
}

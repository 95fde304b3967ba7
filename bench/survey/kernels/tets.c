// Finite elements of tetrahedra: an entry's place is the number of the row's columns before it, which is a vector's
// comparison or two.
#include "native.h"

typedef struct {
    double x, y, z;
} Vec;
static inline Vec minus(Vec a, Vec b) { return (Vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline Vec cross(Vec a, Vec b) {
    return (Vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static inline int find(const int *restrict columns, int from, int to, int column) {
    int before = 0, k = from;
    for (; k + 8 <= to; k += 8)
#pragma omp simd reduction(+ : before)
        for (int i = 0; i < 8; i++)
            before += columns[k + i] < column;
    for (; k < to; k++)
        before += columns[k] < column;
    return from + before;
}

void run(const Vec *restrict nodes, const int *restrict elements, const uchar *restrict material,
         const double *restrict conductivity, const double *restrict capacity, const double *restrict source,
         const int *restrict row_start, const int *restrict columns, double *restrict values, double *restrict rhs,
         const uchar *restrict fixed, const double *restrict temperature, int count, int rows, double dt) {
    for (int e = 0; e < count; e++) {
        const int *id = elements + 4L * e;
        Vec p0 = nodes[id[0]], a = minus(nodes[id[1]], p0), b = minus(nodes[id[2]], p0), c = minus(nodes[id[3]], p0);
        Vec g[4] = {{0, 0, 0}, cross(b, c), cross(c, a), cross(a, b)};
        double det = dot(a, g[1]), volume = fabs(det) / 6, inv = 1 / det;
        for (int k = 1; k < 4; k++) {
            g[k].x *= inv, g[k].y *= inv, g[k].z *= inv;
            g[0].x -= g[k].x, g[0].y -= g[k].y, g[0].z -= g[k].z;
        }
        int m = material[e];
        double k_v = dt * conductivity[m] * volume, m_v = capacity[m] * volume / 20;
        double heat = dt * volume * 0.25 * source[e];
        for (int i = 0; i < 4; i++) {
            int from = row_start[id[i]], to = row_start[id[i] + 1];
            for (int j = 0; j < 4; j++)
                values[find(columns, from, to, id[j])] += k_v * dot(g[i], g[j]) + (i == j ? 2 * m_v : m_v);
            rhs[id[i]] += heat;
        }
    }
    for (int row = 0; row < rows; row++) {
        int from = row_start[row], to = row_start[row + 1];
        if (fixed[row]) {
            for (int k = from; k < to; k++)
                values[k] = columns[k] == row;
            rhs[row] = temperature[row];
            continue;
        }
        double off = 0;
        for (int k = from; k < to; k++)
            if (fixed[columns[k]]) {
                off += values[k] * temperature[columns[k]];
                values[k] = 0;
            }
        rhs[row] -= off;
    }
}

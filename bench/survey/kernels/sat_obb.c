#include "native.h"

typedef struct {
    float centre[3], half_size[3], turn[4];
} Box;

static inline float dot(const float *a, const float *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void axes_of(const float *q, float a[3][3]) {
    float x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
    float xx = q[0] * x2, yy = q[1] * y2, zz = q[2] * z2, xy = q[0] * y2, xz = q[0] * z2, yz = q[1] * z2,
          wx = q[3] * x2, wy = q[3] * y2, wz = q[3] * z2;
    float made[3][3] = {{1 - yy - zz, xy + wz, xz - wy}, {xy - wz, 1 - xx - zz, yz + wx}, {xz + wy, yz - wx, 1 - xx - yy}};
    memcpy(a, made, sizeof made);
}

typedef struct {
    float depth, side;
    int axis;
} Least;

static inline int consider(Least *l, int which, float distance, float reach, float length) {
    float depth = reach - fabsf(distance);
    if (depth < 0)
        return 0;
    depth /= length;
    if (depth < l->depth)
        *l = (Least){depth, distance < 0 ? -1 : 1, which};
    return 1;
}

static inline int touch(const Box *a, const Box *b, float A[3][3], float B[3][3], Least *least) {
    float R[3][3], S[3][3], d[3], t[3];
    const float *p = a->half_size, *q = b->half_size;
    for (int k = 0; k < 3; k++)
        d[k] = b->centre[k] - a->centre[k];
    for (int i = 0; i < 3; i++) {
        t[i] = dot(d, A[i]);
        for (int j = 0; j < 3; j++) {
            R[i][j] = dot(A[i], B[j]);
            S[i][j] = fabsf(R[i][j]);
        }
    }
    for (int i = 0; i < 3; i++)
        if (!consider(least, i, t[i], p[i] + dot(q, S[i]), 1))
            return 0;
    for (int j = 0; j < 3; j++)
        if (!consider(least, 3 + j, dot(d, B[j]), q[j] + p[0] * S[0][j] + p[1] * S[1][j] + p[2] * S[2][j], 1))
            return 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            float length2 = 1 - R[i][j] * R[i][j];
            if (length2 < 1e-4f)
                continue;
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            float reach = p[i1] * S[i2][j] + p[i2] * S[i1][j] + q[j1] * S[i][j2] + q[j2] * S[i][j1];
            if (!consider(least, 6 + 3 * i + j, t[i2] * R[i1][j] - t[i1] * R[i2][j], reach, sqrtf(length2)))
                return 0;
        }
    return 1;
}

void run(const Box *restrict boxes, const int *restrict pairs, uint *restrict count, float *restrict pushes, int n) {
    uint hits = 0;
    for (int id = 0; id < n; id++) {
        const Box *a = boxes + pairs[2 * id], *b = boxes + pairs[2 * id + 1];
        float A[3][3], B[3][3];
        Least c = {1e30f, 0, -1};
        axes_of(a->turn, A);
        axes_of(b->turn, B);
        if (!touch(a, b, A, B, &c))
            continue;
        hits++;
        float s = c.side * c.depth, normal[3], *to = pushes + 4 * (size_t)id;
        if (c.axis < 6)
            memcpy(normal, c.axis < 3 ? A[c.axis] : B[c.axis - 3], sizeof normal);
        else {
            const float *u = A[(c.axis - 6) / 3], *v = B[(c.axis - 6) % 3];
            for (int k = 0; k < 3; k++)
                normal[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
            s /= sqrtf(dot(normal, normal));
        }
        for (int k = 0; k < 3; k++)
            to[k] = s * normal[k];
        to[3] = c.axis + 1;
    }
    *count += hits;
}

#include "native.h"

static void matrix_of(const float *q, float c[3][3]) {
    float x = q[0], y = q[1], z = q[2], w = q[3];
    c[0][0] = 1 - 2 * (y * y + z * z), c[0][1] = 2 * (x * y + w * z), c[0][2] = 2 * (x * z - w * y);
    c[1][0] = 2 * (x * y - w * z), c[1][1] = 1 - 2 * (x * x + z * z), c[1][2] = 2 * (y * z + w * x);
    c[2][0] = 2 * (x * z + w * y), c[2][1] = 2 * (y * z - w * x), c[2][2] = 1 - 2 * (x * x + y * y);
}

// Members of a cluster first into arrays of each coordinate, whose sums are vectors then.
void run(const int *restrict start, const int *restrict member, const float *restrict rest, float *restrict particle,
         float *restrict rotation, float *restrict goal, int rounds, float stiffness, int n, int clusters, int steps) {
    float *restrict px = malloc(4L * n * sizeof(float)), *restrict py = px + n, *restrict pz = py + n;
    float *restrict pw = pz + n;
    for (int step = 0; step < steps; step++) {
        memset(goal, 0, 4L * n * sizeof(float));
        for (int c = 0; c < clusters; c++) {
            int m = start[c + 1] - start[c];
            const int *who = member + start[c];
            const float *q = rest + 3L * start[c];
            float cx = 0, cy = 0, cz = 0, mass = 0, r[3][3];
            for (int i = 0; i < m; i++) {
                const float *p = particle + 4L * who[i];
                px[i] = p[0], py[i] = p[1], pz[i] = p[2], pw[i] = p[3];
            }
#pragma omp simd reduction(+ : cx, cy, cz, mass)
            for (int i = 0; i < m; i++)
                cx += pw[i] * px[i], cy += pw[i] * py[i], cz += pw[i] * pz[i], mass += pw[i];
            cx /= mass, cy /= mass, cz /= mass;
            float a0 = 0, a1 = 0, a2 = 0, a3 = 0, a4 = 0, a5 = 0, a6 = 0, a7 = 0, a8 = 0;
#pragma omp simd reduction(+ : a0, a1, a2, a3, a4, a5, a6, a7, a8)
            for (int i = 0; i < m; i++) {
                float x = pw[i] * (px[i] - cx), y = pw[i] * (py[i] - cy), z = pw[i] * (pz[i] - cz);
                a0 += x * q[3 * i], a1 += y * q[3 * i], a2 += z * q[3 * i];
                a3 += x * q[3 * i + 1], a4 += y * q[3 * i + 1], a5 += z * q[3 * i + 1];
                a6 += x * q[3 * i + 2], a7 += y * q[3 * i + 2], a8 += z * q[3 * i + 2];
            }
            float a[3][3] = {{a0, a1, a2}, {a3, a4, a5}, {a6, a7, a8}}, *o = rotation + 4L * c;
            for (int it = 0; it < rounds; it++) {
                float x = 0, y = 0, z = 0, scale = 0;
                matrix_of(o, r);
                for (int k = 0; k < 3; k++) {
                    x += r[k][1] * a[k][2] - r[k][2] * a[k][1], y += r[k][2] * a[k][0] - r[k][0] * a[k][2];
                    z += r[k][0] * a[k][1] - r[k][1] * a[k][0];
                    scale += r[k][0] * a[k][0] + r[k][1] * a[k][1] + r[k][2] * a[k][2];
                }
                float by = 1 / (fabsf(scale) + 1e-9f);
                x *= by, y *= by, z *= by;
                float angle = sqrtf(x * x + y * y + z * z);
                if (angle < 1e-6f)
                    break;
                float s = sinf(0.5f * angle) / angle, w = cosf(0.5f * angle);
                x *= s, y *= s, z *= s;
                float to[4] = {w * o[0] + x * o[3] + y * o[2] - z * o[1], w * o[1] + y * o[3] + z * o[0] - x * o[2],
                               w * o[2] + z * o[3] + x * o[1] - y * o[0], w * o[3] - x * o[0] - y * o[1] - z * o[2]};
                float norm = 1 / sqrtf(to[0] * to[0] + to[1] * to[1] + to[2] * to[2] + to[3] * to[3]);
                for (int k = 0; k < 4; k++)
                    o[k] = to[k] * norm;
            }
            matrix_of(o, r);
            for (int i = 0; i < m; i++) {
                float *g = goal + 4L * who[i], x = q[3 * i], y = q[3 * i + 1], z = q[3 * i + 2];
                g[0] += cx + r[0][0] * x + r[1][0] * y + r[2][0] * z;
                g[1] += cy + r[0][1] * x + r[1][1] * y + r[2][1] * z;
                g[2] += cz + r[0][2] * x + r[1][2] * y + r[2][2] * z;
                g[3] += 1;
            }
        }
        for (int i = 0; i < n; i++) {
            float *g = goal + 4L * i, *p = particle + 4L * i, by = 1 / g[3];
            if (g[3] > 0)
                for (int k = 0; k < 3; k++)
                    p[k] += stiffness * (g[k] * by - p[k]);
            g[0] = g[1] = g[2] = g[3] = 0;
        }
    }
    free(px);
}

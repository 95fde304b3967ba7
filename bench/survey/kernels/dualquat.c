#include "native.h"

typedef struct {
    float p[3];
    short nx, ny;
    uchar bones[4], weights[4];
} Vertex;

typedef struct {
    unsigned short target;
    short d[3];
} Delta;

static inline void turn(const float *q, const float *v, float *restrict out) {
    float x = 2 * (q[1] * v[2] - q[2] * v[1]), y = 2 * (q[2] * v[0] - q[0] * v[2]), z = 2 * (q[0] * v[1] - q[1] * v[0]);
    out[0] = v[0] + q[3] * x + (q[1] * z - q[2] * y);
    out[1] = v[1] + q[3] * y + (q[2] * x - q[0] * z);
    out[2] = v[2] + q[3] * z + (q[0] * y - q[1] * x);
}

void run(const Vertex *restrict vertices, const float *restrict palette, const uint *restrict delta_start,
         const Delta *restrict deltas, const float *restrict morph_weights, float *restrict positions,
         short *restrict normals, int count, int bones, int targets, float delta_scale, int characters) {
    for (int c = 0; c < characters; c++) {
        const float *bone = palette + c * bones * 8, *morph = morph_weights + c * targets;
        for (int id = 0; id < count; id++) {
            const Vertex *v = vertices + id;
            float p[3] = {v->p[0], v->p[1], v->p[2]}, b[8] = {0}, r[3], n[3], m[3];
            for (uint k = delta_start[id]; k < delta_start[id + 1]; k++) {
                float w = morph[deltas[k].target] * delta_scale;
                for (int i = 0; i < 3; i++)
                    p[i] += w * deltas[k].d[i];
            }
            const float *pivot = bone + 8 * v->bones[0];
            for (int k = 0; k < 4 && v->weights[k]; k++) {
                const float *a = bone + 8 * v->bones[k];
                float w = v->weights[k] * (1.0f / 255);
                if (a[0] * pivot[0] + a[1] * pivot[1] + a[2] * pivot[2] + a[3] * pivot[3] < 0)
                    w = -w;
#pragma omp simd
                for (int i = 0; i < 8; i++)
                    b[i] += w * a[i];
            }
            float inv = 1 / sqrtf(b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3]);
            for (int i = 0; i < 8; i++)
                b[i] *= inv;
            const float *d = b + 4;
            turn(b, p, r);
            float *to = positions + 3 * ((size_t)c * count + id);
            to[0] = r[0] + 2 * (b[3] * d[0] - d[3] * b[0] + (b[1] * d[2] - b[2] * d[1]));
            to[1] = r[1] + 2 * (b[3] * d[1] - d[3] * b[1] + (b[2] * d[0] - b[0] * d[2]));
            to[2] = r[2] + 2 * (b[3] * d[2] - d[3] * b[2] + (b[0] * d[1] - b[1] * d[0]));
            float x = v->nx * (1.0f / 32767), y = v->ny * (1.0f / 32767);
            x = MAX(x, -1);
            y = MAX(y, -1);
            float z = 1 - fabsf(x) - fabsf(y), t = MAX(-z, 0);
            x += x >= 0 ? -t : t;
            y += y >= 0 ? -t : t;
            inv = 1 / sqrtf(x * x + y * y + z * z);
            n[0] = x * inv;
            n[1] = y * inv;
            n[2] = z * inv;
            turn(b, n, m);
            inv = 1 / (fabsf(m[0]) + fabsf(m[1]) + fabsf(m[2]));
            x = m[0] * inv;
            y = m[1] * inv;
            if (m[2] < 0) {
                float ox = x;
                x = (1 - fabsf(y)) * (x >= 0 ? 1 : -1);
                y = (1 - fabsf(ox)) * (y >= 0 ? 1 : -1);
            }
            short *normal = normals + 2 * ((size_t)c * count + id);
            normal[0] = (short)rintf(x * 32767);
            normal[1] = (short)rintf(y * 32767);
        }
    }
}

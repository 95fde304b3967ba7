#include "native.h"

typedef struct {
    float position[3];
    uchar bone[4];
    float normal[3];
    uchar weight[4];
    float uv[2];
    uint colour, tangent;
} Vertex;

static inline void direction(const float *m, const float *p, float *d) {
    for (int i = 0; i < 3; i++)
        d[i] = m[4 * i] * p[0] + m[4 * i + 1] * p[1] + m[4 * i + 2] * p[2];
    float s = 1 / sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    for (int i = 0; i < 3; i++)
        d[i] *= s;
}

void run(const Vertex *restrict mesh, const float *restrict palette, float *restrict position_u,
         float *restrict normal_v, uint *restrict tangent, int vertices, int bones, int instances) {
    for (int instance = 0; instance < instances; instance++) {
        const float *mine = palette + (size_t)instance * bones * 12;
        for (int id = 0; id < vertices; id++) {
            const Vertex *v = mesh + id;
            float m[12] = {0};
            for (int b = 0; b < 4; b++) {
                if (!v->weight[b] && b)
                    continue;
                float w = v->weight[b] * (1 / 255.0f);
                const float *from = mine + v->bone[b] * 12;
                for (int i = 0; i < 12; i++)
                    m[i] += w * from[i];
            }
            size_t out = (size_t)instance * vertices + id;
            float *p = position_u + 4 * out, *n = normal_v + 4 * out, t[3], d[3];
            for (int i = 0; i < 3; i++)
                p[i] = m[4 * i] * v->position[0] + m[4 * i + 1] * v->position[1] + m[4 * i + 2] * v->position[2] +
                       m[4 * i + 3];
            p[3] = v->uv[0];
            direction(m, v->normal, n);
            n[3] = v->uv[1];
            for (int i = 0; i < 3; i++)
                d[i] = fmaxf((((int)(v->tangent << (22 - 10 * i))) >> 22) * (1 / 511.0f), -1);
            direction(m, d, t);
            uint packed = v->tangent & 0xc0000000u;
            for (int i = 0; i < 3; i++)
                packed |= ((uint)(int)rintf(t[i] * 511) & 0x3ff) << 10 * i;
            tangent[out] = packed;
        }
    }
}

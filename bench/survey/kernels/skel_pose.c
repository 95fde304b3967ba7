// Poses of skeletons: key frames blended, then each joint after its parent.
#include "native.h"

typedef struct {
    float w, x, y, z, ox, oy, oz, s;
} transform;

static inline void rotate(const transform *q, float x, float y, float z, float out[3]) {
    float tx = 2 * (q->y * z - q->z * y), ty = 2 * (q->z * x - q->x * z), tz = 2 * (q->x * y - q->y * x);
    out[0] = x + q->w * tx + q->y * tz - q->z * ty;
    out[1] = y + q->w * ty + q->z * tx - q->x * tz;
    out[2] = z + q->w * tz + q->x * ty - q->y * tx;
}

void run(const transform *restrict keys, const int *restrict parents, const float *restrict times,
         float *restrict matrices, int frames, int joints, int characters) {
    transform world[64];
    for (int who = 0; who < characters; who++) {
        int frame = MIN((int)times[who], frames - 2);
        float t = times[who] - frame;
        for (int j = 0; j < joints; j++) {
            transform a = keys[frame * joints + j], b = keys[(frame + 1) * joints + j], m;
            float c = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z, sign = c < 0 ? -1 : 1;
            c *= sign;
            float wa = 1 - t, wb = t;
            if (c < 0.9995f) {
                float angle = acosf(c), inverse = 1 / sinf(angle);
                wa = sinf((1 - t) * angle) * inverse;
                wb = sinf(t * angle) * inverse;
            }
            wb *= sign;
            m.w = wa * a.w + wb * b.w, m.x = wa * a.x + wb * b.x;
            m.y = wa * a.y + wb * b.y, m.z = wa * a.z + wb * b.z;
            float n = 1 / sqrtf(m.w * m.w + m.x * m.x + m.y * m.y + m.z * m.z);
            m.w *= n, m.x *= n, m.y *= n, m.z *= n;
            m.ox = (1 - t) * a.ox + t * b.ox, m.oy = (1 - t) * a.oy + t * b.oy, m.oz = (1 - t) * a.oz + t * b.oz;
            m.s = a.s + t * (b.s - a.s);
            if (parents[j] >= 0) {
                const transform *p = &world[parents[j]];
                float o[3];
                rotate(p, m.ox, m.oy, m.oz, o);
                transform r;
                r.w = p->w * m.w - p->x * m.x - p->y * m.y - p->z * m.z;
                r.x = p->w * m.x + m.w * p->x + p->y * m.z - p->z * m.y;
                r.y = p->w * m.y + m.w * p->y + p->z * m.x - p->x * m.z;
                r.z = p->w * m.z + m.w * p->z + p->x * m.y - p->y * m.x;
                r.ox = p->ox + p->s * o[0], r.oy = p->oy + p->s * o[1], r.oz = p->oz + p->s * o[2];
                r.s = p->s * m.s;
                m = r;
            }
            world[j] = m;
            float x[3], y[3], z[3], *out = matrices + 12 * ((size_t)who * joints + j);
            rotate(&m, 1, 0, 0, x);
            rotate(&m, 0, 1, 0, y);
            rotate(&m, 0, 0, 1, z);
            for (int k = 0; k < 3; k++) {
                out[4 * k] = m.s * x[k], out[4 * k + 1] = m.s * y[k], out[4 * k + 2] = m.s * z[k];
                out[4 * k + 3] = k == 0 ? m.ox : k == 1 ? m.oy : m.oz;
            }
        }
    }
}

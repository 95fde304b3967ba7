#include "native.h"

typedef struct {
    float c[3], h[3], pad[2], q[4];
} Box;

typedef struct {
    float p[3], depth;
} Contact;

static inline float dot(const float *a, const float *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void rotation(const float *q, float m[3][3]) {
    float x = q[0], y = q[1], z = q[2], w = q[3];
    float r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
                     {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
                     {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(m, r, sizeof r);
}

static int clip(float (*restrict in)[3], int count, float (*restrict out)[3], const float *normal, float offset) {
    int made = 0;
    const float *a = in[count - 1];
    float da = dot(a, normal) - offset;
    for (int i = 0; i < count; i++) {
        const float *b = in[i];
        float db = dot(b, normal) - offset;
        if ((da <= 0) != (db <= 0)) {
            float t = da / (da - db);
            for (int k = 0; k < 3; k++)
                out[made][k] = a[k] + t * (b[k] - a[k]);
            made++;
        }
        if (db <= 0)
            memcpy(out[made++], b, 12);
        a = b;
        da = db;
    }
    return made;
}

static int manifold(const Box *a, const Box *b, Contact *out, float *result) {
    float ra[3][3], rb[3][3], d[3], least = 1e30f, most = 0;
    rotation(a->q, ra);
    rotation(b->q, rb);
    for (int k = 0; k < 3; k++)
        d[k] = b->c[k] - a->c[k];
    int best = 0, face = 0;
    for (int i = 0; i < 3; i++) {
        float reach = a->h[i];
        for (int j = 0; j < 3; j++)
            reach += b->h[j] * fabsf(dot(ra[i], rb[j]));
        float depth = reach - fabsf(dot(d, ra[i]));
        if (depth < 0) {
            memset(result, 0, 16);
            return 0;
        }
        if (depth < least) {
            least = depth;
            best = i;
        }
    }
    float flip = dot(d, ra[best]) < 0 ? -1 : 1, normal[3];
    for (int k = 0; k < 3; k++)
        normal[k] = flip * ra[best][k];
    for (int j = 0; j < 3; j++) {
        float s = dot(normal, rb[j]);
        if (fabsf(s) > fabsf(most)) {
            most = s;
            face = j;
        }
    }
    float sign = most > 0 ? -1 : 1, poly[2][12][3];
    int f1 = (face + 1) % 3, f2 = (face + 2) % 3;
    for (int k = 0; k < 3; k++) {
        float mid = b->c[k] + sign * b->h[face] * rb[face][k], u = b->h[f1] * rb[f1][k], v = b->h[f2] * rb[f2][k];
        poly[0][0][k] = mid - u - v;
        poly[0][1][k] = mid + u - v;
        poly[0][2][k] = mid + u + v;
        poly[0][3][k] = mid - u + v;
    }
    int count = 4, now = 0;
    for (int side = 0; side < 4 && count > 0; side++) {
        int axis = (best + 1 + (side >> 1)) % 3;
        float s = side & 1 ? -1 : 1, o[3] = {s * ra[axis][0], s * ra[axis][1], s * ra[axis][2]};
        count = clip(poly[now], count, poly[now ^ 1], o, dot(a->c, o) + a->h[axis]);
        now ^= 1;
    }
    float plane = dot(a->c, normal) + a->h[best];
    Contact kept[12];
    int keep = 0;
    for (int i = 0; i < count; i++) {
        const float *p = poly[now][i];
        float depth = plane - dot(p, normal);
        if (depth >= 0)
            kept[keep++] = (Contact){{p[0], p[1], p[2]}, depth};
    }
    if (keep > 4) {
        float nearest[12];
        for (int c = 0; c < 4; c++) {
            int pick = c;
            float value = -1;
            for (int i = c; i < keep; i++) {
                float score = kept[i].depth;
                if (c > 0) {
                    float x = kept[i].p[0] - kept[c - 1].p[0], y = kept[i].p[1] - kept[c - 1].p[1],
                          z = kept[i].p[2] - kept[c - 1].p[2], r = x * x + y * y + z * z;
                    score = nearest[i] = c > 1 && nearest[i] < r ? nearest[i] : r;
                }
                if (score > value) {
                    value = score;
                    pick = i;
                }
            }
            Contact t = kept[c];
            kept[c] = kept[pick];
            kept[pick] = t;
            nearest[pick] = nearest[c];
        }
        keep = 4;
    }
    memcpy(out, kept, keep * sizeof(Contact));
    memcpy(result, normal, 12);
    result[3] = least;
    return keep;
}

void run(const Box *restrict boxes, const int *restrict pairs, Contact *restrict contacts, float *restrict normals,
         int *restrict counts, int n) {
    for (int p = 0; p < n; p++)
        counts[p] = manifold(boxes + pairs[2 * p], boxes + pairs[2 * p + 1], contacts + 4 * p, normals + 4 * p);
}

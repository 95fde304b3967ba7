#include "native.h"

typedef struct {
    float x, y, z;
} V;

typedef struct {
    V position;
    float angle;
    int first, count;
} Body;

typedef struct {
    V a, b, c, d;
    int size;
} Simplex;

static inline V sub(V a, V b) {
    return (V){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline V neg(V a) {
    return (V){-a.x, -a.y, -a.z};
}
static inline float dot(V a, V b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline V cross(V a, V b) {
    return (V){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// The farthest of some twenty points: all products in vectors, then the first of the greatest.
static inline V support(const Body *body, const float *restrict px, int total, V d, float s, float c) {
    V local = {c * d.x + s * d.y, c * d.y - s * d.x, d.z};
    const float *x = px + body->first, *y = x + total, *z = y + total;
    float best = -1e30f, along[64];
    int which = 0, n = body->count;
#pragma omp simd reduction(max : best)
    for (int i = 0; i < n; i++) {
        along[i] = x[i] * local.x + y[i] * local.y + z[i] * local.z;
        best = along[i] > best ? along[i] : best;
    }
    while (which < n - 1 && along[which] < best)
        which++;
    V p = {x[which], y[which], z[which]};
    return (V){body->position.x + c * p.x - s * p.y, body->position.y + s * p.x + c * p.y, body->position.z + p.z};
}

static void line(Simplex *q, V *dir) {
    V ab = sub(q->b, q->a), ao = neg(q->a);
    q->size = dot(ab, ao) > 0 ? 2 : 1;
    *dir = q->size == 2 ? cross(cross(ab, ao), ab) : ao;
}

static void triangle(Simplex *q, V *dir) {
    V ab = sub(q->b, q->a), ac = sub(q->c, q->a), ao = neg(q->a), n = cross(ab, ac);
    if (dot(cross(n, ac), ao) > 0) {
        if (dot(ac, ao) > 0) {
            q->b = q->c;
            q->size = 2;
            *dir = cross(cross(ac, ao), ac);
        } else
            line(q, dir);
    } else if (dot(cross(ab, n), ao) > 0)
        line(q, dir);
    else {
        q->size = 3;
        *dir = n;
        if (!(dot(n, ao) > 0)) {
            V t = q->b;
            q->b = q->c, q->c = t;
            *dir = neg(n);
        }
    }
}

static int next(Simplex *q, V *dir) {
    if (q->size == 2)
        line(q, dir);
    else if (q->size == 3)
        triangle(q, dir);
    else {
        V ab = sub(q->b, q->a), ac = sub(q->c, q->a), ad = sub(q->d, q->a), ao = neg(q->a);
        if (dot(cross(ab, ac), ao) > 0)
            ;
        else if (dot(cross(ac, ad), ao) > 0)
            q->b = q->c, q->c = q->d;
        else if (dot(cross(ad, ab), ao) > 0)
            q->c = q->b, q->b = q->d;
        else
            return 1;
        triangle(q, dir);
    }
    return 0;
}

void run(const Body *restrict bodies, const V *restrict points, const int *restrict pairs, uchar *restrict hit, int n,
         int most, int total) {
    float *px = malloc(3L * total * sizeof(float));
    for (int i = 0; i < total; i++)
        px[i] = points[i].x, px[total + i] = points[i].y, px[2 * total + i] = points[i].z;
    for (int i = 0; i < n; i++) {
        const Body *one = bodies + pairs[2 * i], *two = bodies + pairs[2 * i + 1];
        float s1 = sinf(one->angle), c1 = cosf(one->angle), s2 = sinf(two->angle), c2 = cosf(two->angle);
        V dir = sub(two->position, one->position);
        Simplex q = {.size = 1};
        q.a = sub(support(one, px, total, dir, s1, c1), support(two, px, total, neg(dir), s2, c2));
        dir = neg(q.a);
        int inside = 0;
        for (int k = 0; k < most && !inside; k++) {
            V p = sub(support(one, px, total, dir, s1, c1), support(two, px, total, neg(dir), s2, c2));
            if (dot(p, dir) < 0)
                break;
            q.d = q.c, q.c = q.b, q.b = q.a, q.a = p;
            q.size++;
            inside = next(&q, &dir);
        }
        hit[i] = inside;
    }
    free(px);
}

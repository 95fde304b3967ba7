// A sum of multiples of points on secp256k1 by buckets: four limbs of 64 bits.
#include "native.h"

enum { BITS = 6, BUCKETS = (1 << BITS) - 1 };
typedef unsigned __int128 u128;
typedef struct {
    ull v[4];
} Field;
typedef struct {
    Field x, y;
} Affine;
typedef struct {
    Field x, y, z;
} Point;

#define C 0x1000003d1ull  // 2^256 less the prime

static inline int is_zero(Field a) { return !(a.v[0] | a.v[1] | a.v[2] | a.v[3]); }

static inline Field plus(Field a, ull c, ull *carry) {
    u128 t = c;
    for (int i = 0; i < 4; i++) {
        t += a.v[i];
        a.v[i] = t;
        t >>= 64;
    }
    *carry = t;
    return a;
}

static inline Field reduced(Field a, ull over) {
    ull carry;
    Field less = plus(a, C, &carry);
    return over | carry ? less : a;
}

static inline Field add(Field a, Field b) {
    u128 t = 0;
    for (int i = 0; i < 4; i++) {
        t += (u128)a.v[i] + b.v[i];
        a.v[i] = t;
        t >>= 64;
    }
    return reduced(a, t);
}

static inline Field sub(Field a, Field b) {
    ull borrow = 0;
    for (int i = 0; i < 4; i++) {
        u128 t = (u128)a.v[i] - b.v[i] - borrow;
        a.v[i] = t;
        borrow = t >> 64 & 1;
    }
    ull less = borrow ? C : 0;
    for (int i = 0; i < 4; i++) {
        u128 t = (u128)a.v[i] - less;
        a.v[i] = t;
        less = t >> 64 & 1;
    }
    return a;
}

static inline Field mul(Field a, Field b) {
    ull t[8] = {0};
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        u128 c = 0;
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            c += (u128)a.v[i] * b.v[j] + t[i + j];
            t[i + j] = c;
            c >>= 64;
        }
        t[i + 4] = c;
    }
    Field r;
    u128 c = 0;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        c += (u128)t[4 + i] * C + t[i];
        r.v[i] = c;
        c >>= 64;
    }
    c *= C;
    for (int i = 0; i < 4; i++) {
        c += r.v[i];
        r.v[i] = c;
        c >>= 64;
    }
    return reduced(r, c);
}

static inline Field sqr(Field a) { return mul(a, a); }
static inline Field twice(Field a) { return add(a, a); }

static Point double_point(Point p) {
    if (is_zero(p.z))
        return p;
    Field a = sqr(p.x), b = sqr(p.y), c = sqr(b), d = twice(sub(sub(sqr(add(p.x, b)), a), c)), e = add(twice(a), a);
    Point r;
    r.x = sub(sqr(e), twice(d));
    r.y = sub(mul(e, sub(d, r.x)), twice(twice(twice(c))));
    r.z = twice(mul(p.y, p.z));
    return r;
}

static inline Point general(Point p, Field u1, Field u2, Field s1, Field s2, Field zz) {
    Field h = sub(u2, u1), r = sub(s2, s1);
    if (is_zero(h))
        return is_zero(r) ? double_point(p) : (Point){{{1}}, {{1}}, {{0}}};
    Field hh = sqr(h), hhh = mul(hh, h), v = mul(u1, hh);
    Point out;
    out.x = sub(sub(sqr(r), hhh), twice(v));
    out.y = sub(mul(r, sub(v, out.x)), mul(s1, hhh));
    out.z = mul(zz, h);
    return out;
}

static Point add_mixed(Point p, Affine q) {
    if (is_zero(p.z))
        return (Point){q.x, q.y, {{1}}};
    Field z2 = sqr(p.z);
    return general(p, p.x, mul(q.x, z2), p.y, mul(q.y, mul(z2, p.z)), p.z);
}

static Point add_points(Point p, Point q) {
    if (is_zero(p.z))
        return q;
    if (is_zero(q.z))
        return p;
    Field z1 = sqr(p.z), z2 = sqr(q.z);
    return general(p, mul(p.x, z2), mul(q.x, z1), mul(p.y, mul(z2, q.z)), mul(q.y, mul(z1, p.z)), mul(p.z, q.z));
}

void run(const Affine *restrict points, const int *restrict starts, const int *restrict members,
         Point *restrict buckets, Point *restrict sums, Affine *restrict result, int windows) {
    for (int id = 0; id < windows * BUCKETS; id++) {
        Point sum = {0};
        for (int k = starts[id]; k < starts[id + 1]; k++)
            sum = add_mixed(sum, points[members[k]]);
        buckets[id] = sum;
    }
    for (int w = 0; w < windows; w++) {
        Point running = {0}, total = {0};
        for (int k = BUCKETS - 1; k >= 0; k--) {
            running = add_points(running, buckets[w * BUCKETS + k]);
            total = add_points(total, running);
        }
        sums[w] = total;
    }
    Point acc = sums[windows - 1];
    for (int w = windows - 2; w >= 0; w--) {
        for (int k = 0; k < BITS; k++)
            acc = double_point(acc);
        acc = add_points(acc, sums[w]);
    }
    Field inverse = {{1}};
    ull exponent[4] = {0xfffffffefffffc2dull, ~0ull, ~0ull, ~0ull};
    for (int bit = 255; bit >= 0; bit--) {
        inverse = sqr(inverse);
        if (exponent[bit >> 6] >> (bit & 63) & 1)
            inverse = mul(inverse, acc.z);
    }
    Field i2 = sqr(inverse);
    result->x = mul(acc.x, i2);
    result->y = mul(acc.y, mul(i2, inverse));
}

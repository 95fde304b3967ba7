// Multiplication of points of Curve25519 by scalars: five limbs of 51 bits, products of 128.
#include "native.h"
typedef unsigned __int128 wide;
typedef struct {
    ull v[5];
} Field;
#define MASK ((1ull << 51) - 1)

static inline Field add(Field f, Field g) {
    for (int i = 0; i < 5; i++)
        f.v[i] += g.v[i];
    return f;
}

// With 4 p added, so that nothing is below zero.
static inline Field subtract(Field f, Field g) {
    f.v[0] += 0x1fffffffffffb4ull - g.v[0];
    for (int i = 1; i < 5; i++)
        f.v[i] += 0x1ffffffffffffcull - g.v[i];
    return f;
}

static inline Field reduce(wide t0, wide t1, wide t2, wide t3, wide t4) {
    Field r;
    t1 += (ull)(t0 >> 51);
    t2 += (ull)(t1 >> 51);
    t3 += (ull)(t2 >> 51);
    t4 += (ull)(t3 >> 51);
    r.v[0] = ((ull)t0 & MASK) + 19 * (ull)(t4 >> 51);
    r.v[1] = ((ull)t1 & MASK) + (r.v[0] >> 51);
    r.v[0] &= MASK;
    r.v[2] = (ull)t2 & MASK;
    r.v[3] = (ull)t3 & MASK;
    r.v[4] = (ull)t4 & MASK;
    return r;
}

static inline Field multiply(Field f, Field g) {
    ull a0 = f.v[0], a1 = f.v[1], a2 = f.v[2], a3 = f.v[3], a4 = f.v[4];
    ull b0 = g.v[0], b1 = g.v[1], b2 = g.v[2], b3 = g.v[3], b4 = g.v[4];
    ull c1 = 19 * b1, c2 = 19 * b2, c3 = 19 * b3, c4 = 19 * b4;
    return reduce((wide)a0 * b0 + (wide)a1 * c4 + (wide)a2 * c3 + (wide)a3 * c2 + (wide)a4 * c1,
                  (wide)a0 * b1 + (wide)a1 * b0 + (wide)a2 * c4 + (wide)a3 * c3 + (wide)a4 * c2,
                  (wide)a0 * b2 + (wide)a1 * b1 + (wide)a2 * b0 + (wide)a3 * c4 + (wide)a4 * c3,
                  (wide)a0 * b3 + (wide)a1 * b2 + (wide)a2 * b1 + (wide)a3 * b0 + (wide)a4 * c4,
                  (wide)a0 * b4 + (wide)a1 * b3 + (wide)a2 * b2 + (wide)a3 * b1 + (wide)a4 * b0);
}

static inline Field square(Field f) {
    ull a0 = f.v[0], a1 = f.v[1], a2 = f.v[2], a3 = f.v[3], a4 = f.v[4];
    ull d0 = 2 * a0, d1 = 2 * a1, c3 = 19 * a3, c4 = 19 * a4;
    return reduce((wide)a0 * a0 + (wide)d1 * c4 + (wide)(2 * a2) * c3,
                  (wide)d0 * a1 + (wide)(2 * a2) * c4 + (wide)a3 * c3,
                  (wide)d0 * a2 + (wide)a1 * a1 + (wide)(2 * a3) * c4, (wide)d0 * a3 + (wide)d1 * a2 + (wide)a4 * c4,
                  (wide)d0 * a4 + (wide)d1 * a3 + (wide)a2 * a2);
}

static Field square_times(Field f, int times) {
    while (times--)
        f = square(f);
    return f;
}

static Field invert(Field z) {
    Field z2 = square(z), z9 = multiply(square_times(z2, 2), z), z11 = multiply(z9, z2);
    Field z5 = multiply(square(z11), z9), z10 = multiply(square_times(z5, 5), z5);
    Field z20 = multiply(square_times(z10, 10), z10), z40 = multiply(square_times(z20, 20), z20);
    Field z50 = multiply(square_times(z40, 10), z10), z100 = multiply(square_times(z50, 50), z50);
    Field z200 = multiply(square_times(z100, 100), z100), z250 = multiply(square_times(z200, 50), z50);
    return multiply(square_times(z250, 5), z11);
}

static inline void swap_if(Field *f, Field *g, ull swap) {
    for (int i = 0; i < 5; i++) {
        ull x = (f->v[i] ^ g->v[i]) & -swap;
        f->v[i] ^= x;
        g->v[i] ^= x;
    }
}

static Field load(const uint *words) {
    Field r;
    ull w[4];
    memcpy(w, words, 32);
    r.v[0] = w[0] & MASK;
    r.v[1] = (w[0] >> 51 | w[1] << 13) & MASK;
    r.v[2] = (w[1] >> 38 | w[2] << 26) & MASK;
    r.v[3] = (w[2] >> 25 | w[3] << 39) & MASK;
    r.v[4] = (w[3] >> 12) & MASK;
    return r;
}

static void store(uint *words, Field f) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 5; i++) {
            ull carry = f.v[i] >> 51;
            f.v[i] &= MASK;
            f.v[(i + 1) % 5] += i == 4 ? 19 * carry : carry;
        }
    ull q = (f.v[0] + 19) >> 51;  // is it p or more?
    for (int i = 1; i < 5; i++)
        q = (f.v[i] + q) >> 51;
    f.v[0] += 19 * q;
    for (int i = 0; i < 4; i++) {
        f.v[i + 1] += f.v[i] >> 51;
        f.v[i] &= MASK;
    }
    f.v[4] &= MASK;
    ull w[4] = {f.v[0] | f.v[1] << 51, f.v[1] >> 13 | f.v[2] << 38, f.v[2] >> 26 | f.v[3] << 25,
                f.v[3] >> 39 | f.v[4] << 12};
    memcpy(words, w, 32);
}

void run(const uint *restrict scalars, const uint *restrict points, uint *restrict results, int n, int bits) {
    for (int id = 0; id < n; id++) {
        const uint *scalar = scalars + id * 8;
        Field x1 = load(points + id * 8), x2 = {{1}}, z2 = {{0}}, x3 = x1, z3 = {{1}};
        ull swap = 0;
        for (int position = bits - 1; position >= 0; position--) {
            ull bit = scalar[position >> 5] >> (position & 31) & 1;
            swap_if(&x2, &x3, swap ^ bit);
            swap_if(&z2, &z3, swap ^ bit);
            swap = bit;
            Field a = add(x2, z2), b = subtract(x2, z2), c = add(x3, z3), d = subtract(x3, z3);
            Field da = multiply(d, a), cb = multiply(c, b), aa = square(a), bb = square(b), e = subtract(aa, bb);
            x3 = square(add(da, cb));
            z3 = multiply(square(subtract(da, cb)), x1);
            x2 = multiply(aa, bb);
            Field small = {{121665}};
            z2 = multiply(e, add(multiply(e, small), aa));
        }
        swap_if(&x2, &x3, swap);
        swap_if(&z2, &z3, swap);
        store(results + id * 8, multiply(x2, invert(z2)));
    }
}

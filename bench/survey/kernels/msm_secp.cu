// A sum of multiples of points on secp256k1 (Pippenger): a thread a bucket adds the points whose digit it is, a thread a
// window sums up its buckets, one thread joins the windows and divides by z. Eight limbs of 32 bits.
#include <stdint.h>
#define LIMBS 8
#define WINDOW_BITS 6
#define BUCKETS ((1 << WINDOW_BITS) - 1)

struct Field {
    uint32_t v[LIMBS];
};
struct Affine {
    Field x, y;
};
struct Jacobian {
    Field x, y, z;
};

__constant__ uint32_t PRIME[LIMBS] = {0xfffffc2fu, 0xfffffffeu, 0xffffffffu, 0xffffffffu,
                                      0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu};

__device__ bool is_zero(const Field &a) {
    uint32_t all = 0;
    for (int i = 0; i < LIMBS; i++)
        all |= a.v[i];
    return all == 0;
}

__device__ uint32_t sub_limbs(Field &r, const Field &a, const uint32_t *b) {
    int64_t borrow = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        borrow += (int64_t)a.v[i] - b[i];
        r.v[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    return borrow ? 1 : 0;
}

__device__ Field add(const Field &a, const Field &b) {
    Field sum, less;
    uint64_t carry = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a.v[i] + b.v[i];
        sum.v[i] = (uint32_t)carry;
        carry >>= 32;
    }
    uint32_t borrow = sub_limbs(less, sum, PRIME);
    return carry || !borrow ? less : sum;
}

__device__ Field sub(const Field &a, const Field &b) {
    Field r;
    if (sub_limbs(r, a, b.v)) {
        uint64_t carry = 0;
#pragma unroll
        for (int i = 0; i < LIMBS; i++) {
            carry += (uint64_t)r.v[i] + PRIME[i];
            r.v[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    return r;
}

__device__ __noinline__ Field mul(const Field &a, const Field &b) {
    uint32_t t[2 * LIMBS] = {0};
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        uint64_t carry = 0;
#pragma unroll
        for (int j = 0; j < LIMBS; j++) {
            carry += (uint64_t)a.v[i] * b.v[j] + t[i + j];
            t[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        t[i + LIMBS] = (uint32_t)carry;
    }
    // 2^256 = 2^32 + 977
    Field r;
    uint64_t carry = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)t[LIMBS + i] * 977u + t[i] + (i > 0 ? t[LIMBS + i - 1] : 0u);
        r.v[i] = (uint32_t)carry;
        carry >>= 32;
    }
    uint64_t top = carry + t[2 * LIMBS - 1];  // below 2^34
    uint64_t low = (top & 0xffffffffu) * 977u, high = (top >> 32) * 977u + (top & 0xffffffffu);
    carry = low + r.v[0];
    r.v[0] = (uint32_t)carry;
    carry = (carry >> 32) + high + r.v[1];
    r.v[1] = (uint32_t)carry;
    carry = (carry >> 32) + (top >> 32) + r.v[2];
    r.v[2] = (uint32_t)carry;
    carry >>= 32;
#pragma unroll
    for (int i = 3; i < LIMBS; i++) {
        carry += r.v[i];
        r.v[i] = (uint32_t)carry;
        carry >>= 32;
    }
    Field less;
    uint32_t borrow = sub_limbs(less, r, PRIME);
    return carry || !borrow ? less : r;
}

__device__ __forceinline__ Field sqr(const Field &a) { return mul(a, a); }
__device__ __forceinline__ Field twice(const Field &a) { return add(a, a); }

__device__ Jacobian double_point(const Jacobian &p) {
    if (is_zero(p.z))
        return p;
    Field a = sqr(p.x), b = sqr(p.y), c = sqr(b);
    Field d = twice(sub(sub(sqr(add(p.x, b)), a), c));
    Field e = add(twice(a), a);
    Jacobian r;
    r.x = sub(sqr(e), twice(d));
    r.y = sub(mul(e, sub(d, r.x)), twice(twice(twice(c))));
    r.z = twice(mul(p.y, p.z));
    return r;
}

__device__ Jacobian add_general(const Jacobian &p, const Field &u1, const Field &u2, const Field &s1, const Field &s2,
                                const Field &zz) {
    Field h = sub(u2, u1), r = sub(s2, s1);
    Jacobian out;
    if (is_zero(h)) {
        if (is_zero(r))
            return double_point(p);
        for (int i = 0; i < LIMBS; i++)
            out.x.v[i] = out.y.v[i] = i == 0, out.z.v[i] = 0;
        return out;
    }
    Field hh = sqr(h), hhh = mul(hh, h), v = mul(u1, hh);
    out.x = sub(sub(sqr(r), hhh), twice(v));
    out.y = sub(mul(r, sub(v, out.x)), mul(s1, hhh));
    out.z = mul(zz, h);
    return out;
}

__device__ Jacobian add_mixed(const Jacobian &p, const Affine &q) {
    if (is_zero(p.z)) {
        Jacobian r = {q.x, q.y, {{1, 0, 0, 0, 0, 0, 0, 0}}};
        return r;
    }
    Field z2 = sqr(p.z);
    return add_general(p, p.x, mul(q.x, z2), p.y, mul(q.y, mul(z2, p.z)), p.z);
}

__device__ Jacobian add_points(const Jacobian &p, const Jacobian &q) {
    if (is_zero(p.z))
        return q;
    if (is_zero(q.z))
        return p;
    Field z1 = sqr(p.z), z2 = sqr(q.z);
    return add_general(p, mul(p.x, z2), mul(q.x, z1), mul(p.y, mul(z2, q.z)), mul(q.y, mul(z1, p.z)), mul(p.z, q.z));
}

extern "C" __global__ void msm_buckets(const Affine *__restrict__ points, const int *__restrict__ starts,
                                       const int *__restrict__ members, Jacobian *__restrict__ buckets, int count) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    Jacobian sum = {};
    for (int k = starts[id]; k < starts[id + 1]; k++)
        sum = add_mixed(sum, points[members[k]]);
    buckets[id] = sum;
}

extern "C" __global__ void msm_windows(const Jacobian *__restrict__ buckets, Jacobian *sums, int windows) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= windows)
        return;
    Jacobian running = {}, total = {};
    for (int k = BUCKETS - 1; k >= 0; k--) {
        running = add_points(running, buckets[w * BUCKETS + k]);
        total = add_points(total, running);
    }
    sums[w] = total;
}

extern "C" __global__ void msm_join(const Jacobian *sums, Affine *result, int windows) {
    Jacobian acc = sums[windows - 1];
    for (int w = windows - 2; w >= 0; w--) {
        for (int k = 0; k < WINDOW_BITS; k++)
            acc = double_point(acc);
        acc = add_points(acc, sums[w]);
    }
    // z^(p - 2)
    Field inverse = {{1, 0, 0, 0, 0, 0, 0, 0}};
    for (int bit = 255; bit >= 0; bit--) {
        inverse = sqr(inverse);
        uint32_t limb = PRIME[bit >> 5] - (bit < 32 ? 2u : 0u);
        if (limb >> (bit & 31) & 1)
            inverse = mul(inverse, acc.z);
    }
    Field i2 = sqr(inverse);
    result->x = mul(acc.x, i2);
    result->y = mul(acc.y, mul(i2, inverse));
}

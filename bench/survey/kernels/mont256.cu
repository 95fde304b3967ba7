// Chains of squares and products in the field of secp256k1, in Montgomery's form: a thread for each.
#define LIMBS 8
#define INVERSE 0xd2253531u

typedef unsigned int u32;
typedef unsigned long long u64;

struct Field {
    u32 v[LIMBS];
};

__constant__ u32 P[LIMBS] = {0xfffffc2f, 0xfffffffe, 0xffffffff, 0xffffffff,
                             0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff};

__device__ Field mont_mul(const Field &a, const Field &b) {
    u32 t[LIMBS + 2] = {0};
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        u64 carry = 0;
#pragma unroll
        for (int j = 0; j < LIMBS; j++) {
            u64 s = (u64)a.v[j] * b.v[i] + t[j] + carry;
            t[j] = (u32)s;
            carry = s >> 32;
        }
        u64 s = (u64)t[LIMBS] + carry;
        t[LIMBS] = (u32)s;
        t[LIMBS + 1] = (u32)(s >> 32);
        u32 m = t[0] * INVERSE;
        s = (u64)m * P[0] + t[0];
        carry = s >> 32;
#pragma unroll
        for (int j = 1; j < LIMBS; j++) {
            s = (u64)m * P[j] + t[j] + carry;
            t[j - 1] = (u32)s;
            carry = s >> 32;
        }
        s = (u64)t[LIMBS] + carry;
        t[LIMBS - 1] = (u32)s;
        t[LIMBS] = t[LIMBS + 1] + (u32)(s >> 32);
    }
    Field less;
    u32 borrow = 0;
#pragma unroll
    for (int j = 0; j < LIMBS; j++) {
        u64 d = (u64)t[j] - P[j] - borrow;
        less.v[j] = (u32)d;
        borrow = (u32)(d >> 32) & 1;
    }
    if (t[LIMBS] == 0 && borrow) {
#pragma unroll
        for (int j = 0; j < LIMBS; j++)
            less.v[j] = t[j];
    }
    return less;
}

extern "C" __global__ void mont_chain(const Field *x, const Field *y, Field *result, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Field a = x[i], b = y[i];
    for (int r = 0; r < rounds; r++) {
        a = mont_mul(a, a);
        a = mont_mul(a, b);
    }
    result[i] = a;
}

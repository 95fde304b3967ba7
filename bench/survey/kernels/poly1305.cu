// Poly1305 tags of many packets, a thread each: five limbs of 26 bits, clamped keys, tails that are not whole blocks.
#include <cstdint>

struct Limbs {
    uint32_t v[5];
};

__device__ __forceinline__ uint32_t load_le(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

__device__ __forceinline__ void add_block(Limbs &h, const uint8_t *p, uint32_t high) {
    uint32_t t0 = load_le(p), t1 = load_le(p + 4), t2 = load_le(p + 8), t3 = load_le(p + 12);
    h.v[0] += t0 & 0x3ffffff;
    h.v[1] += (t0 >> 26 | t1 << 6) & 0x3ffffff;
    h.v[2] += (t1 >> 20 | t2 << 12) & 0x3ffffff;
    h.v[3] += (t2 >> 14 | t3 << 18) & 0x3ffffff;
    h.v[4] += t3 >> 8 | high;
}

__device__ __forceinline__ void multiply(Limbs &h, const Limbs &r) {
    uint64_t d[5];
#pragma unroll
    for (int i = 0; i < 5; i++) {
        d[i] = 0;
#pragma unroll
        for (int j = 0; j < 5; j++) {
            uint32_t k = j <= i ? r.v[i - j] : 5 * r.v[i + 5 - j];
            d[i] += (uint64_t)h.v[j] * k;
        }
    }
    uint64_t carry = 0;
#pragma unroll
    for (int i = 0; i < 5; i++) {
        d[i] += carry;
        h.v[i] = (uint32_t)d[i] & 0x3ffffff;
        carry = d[i] >> 26;
    }
    h.v[0] += (uint32_t)carry * 5;
    h.v[1] += h.v[0] >> 26;
    h.v[0] &= 0x3ffffff;
}

extern "C" __global__ void poly1305(const uint8_t *__restrict__ data, const uint32_t *__restrict__ offsets,
                                    const uint32_t *__restrict__ keys, uint4 *__restrict__ tags, int packets) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= packets)
        return;
    const uint32_t *key = keys + 8 * p;
    Limbs r, h = {};
    r.v[0] = key[0] & 0x3ffffff;
    r.v[1] = (key[0] >> 26 | key[1] << 6) & 0x3ffff03;
    r.v[2] = (key[1] >> 20 | key[2] << 12) & 0x3ffc0ff;
    r.v[3] = (key[2] >> 14 | key[3] << 18) & 0x3f03fff;
    r.v[4] = key[3] >> 8 & 0x00fffff;

    const uint8_t *at = data + offsets[p];
    uint32_t left = offsets[p + 1] - offsets[p];
    while (left >= 16) {
        add_block(h, at, 1u << 24);
        multiply(h, r);
        at += 16;
        left -= 16;
    }
    if (left) {
        uint8_t last[16] = {0};
        for (uint32_t i = 0; i < left; i++)
            last[i] = at[i];
        last[left] = 1;
        add_block(h, last, 0);
        multiply(h, r);
    }
    // carry all the way, then minus p where that is not negative
    uint32_t c = h.v[1] >> 26;
    h.v[1] &= 0x3ffffff;
    for (int i = 2; i < 5; i++) {
        h.v[i] += c;
        c = h.v[i] >> 26;
        h.v[i] &= 0x3ffffff;
    }
    h.v[0] += c * 5;
    h.v[1] += h.v[0] >> 26;
    h.v[0] &= 0x3ffffff;
    Limbs g;
    c = 5;
    for (int i = 0; i < 5; i++) {
        g.v[i] = h.v[i] + c;
        c = g.v[i] >> 26;
        g.v[i] &= 0x3ffffff;
    }
    uint32_t mask = 0u - c;  // all ones if h + 5 reached 2^130
    for (int i = 0; i < 5; i++)
        h.v[i] = (h.v[i] & ~mask) | (g.v[i] & mask);

    uint32_t w[4] = {h.v[0] | h.v[1] << 26, h.v[1] >> 6 | h.v[2] << 20, h.v[2] >> 12 | h.v[3] << 14,
                     h.v[3] >> 18 | h.v[4] << 8};
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += (uint64_t)w[i] + key[4 + i];
        w[i] = (uint32_t)sum;
        sum >>= 32;
    }
    tags[p] = make_uint4(w[0], w[1], w[2], w[3]);
}

// GHASH, the tags of AES-GCM: a thread for each message, by a table of 16 multiples of the key in shared memory
// (Shoup's method with four bits).
#include <stdint.h>

#define THREADS 128

struct Block {
    uint64_t high, low;
};

__constant__ uint16_t remainders[16] = {0x0000, 0x1c20, 0x3840, 0x2460, 0x7080, 0x6ca0, 0x48c0, 0x54e0,
                                        0xe100, 0xfd20, 0xd940, 0xc560, 0x9180, 0x8da0, 0xa9c0, 0xb5e0};

__device__ __forceinline__ uint64_t big_endian(uint32_t first, uint32_t second) {
    return (uint64_t)__byte_perm(first, 0, 0x0123) << 32 | __byte_perm(second, 0, 0x0123);
}

__device__ void make_table(Block *table, Block h) {
    table[0].high = table[0].low = 0;
    table[8] = h;
    for (int i = 4; i > 0; i >>= 1) {
        uint64_t carry = (h.low & 1) ? 0xe100000000000000ull : 0;
        h.low = h.high << 63 | h.low >> 1;
        h.high = h.high >> 1 ^ carry;
        table[i] = h;
    }
    for (int i = 2; i < 16; i <<= 1)
        for (int j = 1; j < i; j++) {
            table[i + j].high = table[i].high ^ table[j].high;
            table[i + j].low = table[i].low ^ table[j].low;
        }
}

__device__ __forceinline__ void shift4(Block &z) {
    const int rest = z.low & 15;
    z.low = z.high << 60 | z.low >> 4;
    z.high = z.high >> 4 ^ (uint64_t)remainders[rest] << 48;
}

__device__ Block multiply(Block x, const Block *table) {
    Block z = table[x.low & 15];
    for (int i = 1; i < 32; i++) {
        shift4(z);
        const uint64_t word = i < 16 ? x.low : x.high;
        const Block &t = table[word >> (4 * (i & 15)) & 15];
        z.high ^= t.high;
        z.low ^= t.low;
    }
    return z;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    ghash(const uint8_t *__restrict__ data, const int64_t *__restrict__ offsets, const int *__restrict__ aad_bytes,
          const int *__restrict__ text_bytes, const ulonglong2 *__restrict__ key, const uint4 *__restrict__ masks,
          uint4 *__restrict__ tags, int messages) {
    __shared__ Block table[16];
    if (threadIdx.x == 0) {
        Block h = {key->x, key->y};
        make_table(table, h);
    }
    __syncthreads();
    const int m = blockIdx.x * THREADS + threadIdx.x;
    if (m >= messages)
        return;

    const uint8_t *p = data + offsets[m];  // at a multiple of 16 bytes
    Block y = {0, 0};
    const int lengths[2] = {aad_bytes[m], text_bytes[m]};
    for (int part = 0; part < 2; part++) {
        int left = lengths[part];
        while (left >= 16) {
            const uint4 v = *(const uint4 *)p;
            y.high ^= big_endian(v.x, v.y);
            y.low ^= big_endian(v.z, v.w);
            y = multiply(y, table);
            p += 16;
            left -= 16;
        }
        if (left > 0) {  // padded with zeros
            for (int i = 0; i < left; i++) {
                const uint64_t byte = p[i];
                if (i < 8)
                    y.high ^= byte << (56 - 8 * i);
                else
                    y.low ^= byte << (56 - 8 * (i - 8));
            }
            y = multiply(y, table);
            p += 16;
        }
    }
    y.high ^= (uint64_t)lengths[0] * 8;
    y.low ^= (uint64_t)lengths[1] * 8;
    y = multiply(y, table);

    const uint4 mask = masks[m];
    uint4 tag;
    tag.x = __byte_perm((uint32_t)(y.high >> 32), 0, 0x0123) ^ mask.x;
    tag.y = __byte_perm((uint32_t)y.high, 0, 0x0123) ^ mask.y;
    tag.z = __byte_perm((uint32_t)(y.low >> 32), 0, 0x0123) ^ mask.z;
    tag.w = __byte_perm((uint32_t)y.low, 0, 0x0123) ^ mask.w;
    tags[m] = tag;
}

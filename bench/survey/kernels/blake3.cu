// BLAKE3 of one long message: a thread a chunk of 1024 bytes, then parents level by level (an odd one goes up as it is).
#include <cstdint>
#define CHUNK_START 1u
#define CHUNK_END 2u
#define PARENT 4u
#define ROOT 8u

__constant__ uint32_t IV[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                               0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
__constant__ uint8_t PERMUTATION[16] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};

__device__ __forceinline__ uint32_t rotr(uint32_t v, int n) {
    return __funnelshift_r(v, v, n);
}

__device__ __forceinline__ void g(uint32_t *s, int a, int b, int c, int d, uint32_t x, uint32_t y) {
    s[a] += s[b] + x;
    s[d] = rotr(s[d] ^ s[a], 16);
    s[c] += s[d];
    s[b] = rotr(s[b] ^ s[c], 12);
    s[a] += s[b] + y;
    s[d] = rotr(s[d] ^ s[a], 8);
    s[c] += s[d];
    s[b] = rotr(s[b] ^ s[c], 7);
}

__device__ void compress(uint32_t cv[8], const uint32_t words[16], uint64_t counter, uint32_t length, uint32_t flags) {
    uint32_t m[16], s[16];
#pragma unroll
    for (int i = 0; i < 16; i++)
        m[i] = words[i];
#pragma unroll
    for (int i = 0; i < 8; i++)
        s[i] = cv[i];
#pragma unroll
    for (int i = 0; i < 4; i++)
        s[8 + i] = IV[i];
    s[12] = (uint32_t)counter;
    s[13] = (uint32_t)(counter >> 32);
    s[14] = length;
    s[15] = flags;
    for (int round = 0; round < 7; round++) {
        g(s, 0, 4, 8, 12, m[0], m[1]);
        g(s, 1, 5, 9, 13, m[2], m[3]);
        g(s, 2, 6, 10, 14, m[4], m[5]);
        g(s, 3, 7, 11, 15, m[6], m[7]);
        g(s, 0, 5, 10, 15, m[8], m[9]);
        g(s, 1, 6, 11, 12, m[10], m[11]);
        g(s, 2, 7, 8, 13, m[12], m[13]);
        g(s, 3, 4, 9, 14, m[14], m[15]);
        if (round == 6)
            break;
        uint32_t t[16];
        for (int i = 0; i < 16; i++)
            t[i] = m[PERMUTATION[i]];
        for (int i = 0; i < 16; i++)
            m[i] = t[i];
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        cv[i] = s[i] ^ s[i + 8];
}

extern "C" __global__ void blake3_chunks(const uint8_t *__restrict__ message, uint32_t *__restrict__ nodes,
                                         unsigned long long bytes, int chunks) {
    int chunk = blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= chunks)
        return;
    unsigned long long at = (unsigned long long)chunk * 1024, left = bytes - at;
    int size = left < 1024 ? (int)left : 1024;
    int blocks = max((size + 63) / 64, 1);
    uint32_t cv[8];
    for (int i = 0; i < 8; i++)
        cv[i] = IV[i];
    for (int b = 0; b < blocks; b++) {
        uint32_t words[16];
        int length = min(64, size - b * 64);
        if (length == 64) {
            const uint4 *from = reinterpret_cast<const uint4 *>(message + at + b * 64);
            for (int i = 0; i < 4; i++) {
                uint4 v = from[i];
                words[4 * i] = v.x;
                words[4 * i + 1] = v.y;
                words[4 * i + 2] = v.z;
                words[4 * i + 3] = v.w;
            }
        } else {
            for (int i = 0; i < 16; i++)
                words[i] = 0;
            for (int i = 0; i < length; i++)
                words[i / 4] |= (uint32_t)message[at + b * 64 + i] << (8 * (i % 4));
        }
        uint32_t flags = (b == 0 ? CHUNK_START : 0) | (b == blocks - 1 ? CHUNK_END : 0);
        if (chunks == 1 && b == blocks - 1)
            flags |= ROOT;
        compress(cv, words, chunk, length, flags);
    }
    for (int i = 0; i < 8; i++)
        nodes[chunk * 8 + i] = cv[i];
}

extern "C" __global__ void blake3_parents(const uint32_t *__restrict__ below, uint32_t *__restrict__ above, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i >= count)
        return;
    uint32_t cv[8];
    if (2 * i + 1 == count) {
        for (int j = 0; j < 8; j++)
            above[i * 8 + j] = below[2 * i * 8 + j];
        return;
    }
    for (int j = 0; j < 8; j++)
        cv[j] = IV[j];
    compress(cv, below + 2 * i * 8, 0, 64, PARENT | (count == 2 ? ROOT : 0));
    for (int j = 0; j < 8; j++)
        above[i * 8 + j] = cv[j];
}

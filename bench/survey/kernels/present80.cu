// The block cipher PRESENT with a key of 80 bits, as a stream of numbered blocks: 31 rounds, in which tables in shared
// memory do the substitution and the permutation of bits at once. Each block of threads makes its own tables.
#include <stdint.h>

#define ROUNDS 31

__constant__ uint8_t sbox[16] = {0xC, 5, 6, 0xB, 9, 0, 0xA, 0xD, 3, 0xE, 0xF, 8, 4, 7, 1, 2};

__device__ void expand_key(uint64_t high, uint16_t low, uint64_t *round_keys) {
    for (int round = 1; round <= ROUNDS + 1; round++) {
        round_keys[round - 1] = high;
        // the register of 80 bits turned left by 61
        uint64_t h = high;
        high = (h << 61) | ((uint64_t)low << 45) | (h >> 19);
        low = (uint16_t)(h >> 3);
        high = (high & 0x0FFFFFFFFFFFFFFFull) | ((uint64_t)sbox[high >> 60] << 60);
        high ^= (uint64_t)(round >> 1);
        low ^= (uint16_t)((round & 1) << 15);
    }
}

__device__ uint64_t permute_bits(uint64_t state) {
    uint64_t moved = 0;
    for (int bit = 0; bit < 63; bit++)
        moved |= ((state >> bit) & 1) << (bit * 16 % 63);
    return moved | (state & (1ull << 63));
}

extern "C" __global__ void present80(const uint64_t *__restrict__ text, uint64_t *__restrict__ out, uint64_t key_high,
                                     unsigned key_low, uint64_t nonce, int n) {
    __shared__ uint64_t table[8][256];
    __shared__ uint64_t keys[ROUNDS + 1];
    for (int i = threadIdx.x; i < 8 * 256; i += blockDim.x) {
        int byte = i & 255;
        uint64_t replaced = sbox[byte & 15] | (sbox[byte >> 4] << 4);
        table[i >> 8][byte] = permute_bits(replaced << (8 * (i >> 8)));
    }
    if (threadIdx.x == 0)
        expand_key(key_high, (uint16_t)key_low, keys);
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        uint64_t state = nonce + i;
        for (int round = 0; round < ROUNDS; round++) {
            state ^= keys[round];
            uint64_t next = 0;
#pragma unroll
            for (int k = 0; k < 8; k++)
                next ^= table[k][(state >> (8 * k)) & 255];
            state = next;
        }
        out[i] = text[i] ^ state ^ keys[ROUNDS];
    }
}

// A step of a language model's attention: queries and keys are rotated by their positions, and keys and values go to
// their slots of a cache of pages. A block for each token; tokens whose slot is negative are padding.
#include <cuda_fp16.h>
#include <stdint.h>

#define PACK 8  // numbers side by side in the keys' cache: 16 bytes

__device__ __forceinline__ void rotate(half *pair_low, half *pair_high, float c, float s) {
    float a = __half2float(*pair_low), b = __half2float(*pair_high);
    *pair_low = __float2half(a * c - b * s);
    *pair_high = __float2half(b * c + a * s);
}

extern "C" __global__ void kv_append(half *__restrict__ query,            // [tokens][heads][dim]
                                     const half *__restrict__ key,        // [tokens][kv_heads][dim]
                                     const half *__restrict__ value,      // [tokens][kv_heads][dim]
                                     half *__restrict__ key_cache,        // [pages][kv_heads][dim / 8][page][8]
                                     half *__restrict__ value_cache,      // [pages][kv_heads][dim][page]
                                     const float2 *__restrict__ cos_sin,  // [positions][dim / 2]
                                     const int64_t *__restrict__ positions, const int64_t *__restrict__ slots,
                                     int heads, int kv_heads, int dim, int page) {
    const int64_t token = blockIdx.x;
    const int half_dim = dim / 2;
    const float2 *table = cos_sin + positions[token] * half_dim;

    for (int i = threadIdx.x; i < heads * half_dim; i += blockDim.x) {
        int head = i / half_dim, d = i % half_dim;
        half *q = query + (token * heads + head) * dim;
        float2 cs = table[d];
        rotate(q + d, q + d + half_dim, cs.x, cs.y);
    }

    const int64_t slot = slots[token];
    if (slot < 0)
        return;
    const int64_t page_index = slot / page, page_offset = slot % page;

    for (int i = threadIdx.x; i < kv_heads * half_dim; i += blockDim.x) {
        int head = i / half_dim, d = i % half_dim;
        const half *k = key + (token * kv_heads + head) * dim;
        float2 cs = table[d];
        half low = k[d], high = k[d + half_dim];
        rotate(&low, &high, cs.x, cs.y);
        half *to = key_cache + (page_index * kv_heads + head) * dim * page;
        to[(d / PACK * page + page_offset) * PACK + d % PACK] = low;
        int other = d + half_dim;
        to[(other / PACK * page + page_offset) * PACK + other % PACK] = high;
    }
    for (int i = threadIdx.x; i < kv_heads * dim; i += blockDim.x) {
        int head = i / dim, d = i % dim;
        value_cache[((page_index * kv_heads + head) * dim + d) * page + page_offset] =
            value[token * kv_heads * dim + i];
    }
}

// A hash join: atomicCAS fills a table with open addressing, then each probing row looks for its partner.
#define EMPTY 0xffffffffu

__device__ __forceinline__ unsigned int hashed(unsigned int k) {
    k ^= k >> 16;
    k *= 0x85ebca6bu;
    k ^= k >> 13;
    k *= 0xc2b2ae35u;
    k ^= k >> 16;
    return k;
}

extern "C" __global__ void join_clear(unsigned int *table_key, unsigned int *table_value, unsigned int slots) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < slots) {
        table_key[i] = EMPTY;
        table_value[i] = 0;
    }
}

extern "C" __global__ void join_build(const unsigned int *key, const unsigned int *value, unsigned int *table_key,
                                      unsigned int *table_value, unsigned int slots, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned int k = key[i];
    unsigned int slot = hashed(k) & (slots - 1);
    while (true) {
        unsigned int old = atomicCAS(&table_key[slot], EMPTY, k);
        if (old == EMPTY || old == k) {
            table_value[slot] = value[i];
            return;
        }
        slot = (slot + 1) & (slots - 1);
    }
}

extern "C" __global__ void join_probe(const unsigned int *key, const unsigned int *value,
                                      const unsigned int *table_key, const unsigned int *table_value,
                                      uint2 *result, unsigned int *matches, unsigned int slots, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned int k = key[i];
    unsigned int slot = hashed(k) & (slots - 1);
    while (true) {
        unsigned int found = table_key[slot];
        if (found == k) {
            unsigned int place = atomicAdd(matches, 1u);
            result[place] = make_uint2(table_value[slot], value[i]);
            return;
        }
        if (found == EMPTY)
            return;
        slot = (slot + 1) & (slots - 1);
    }
}

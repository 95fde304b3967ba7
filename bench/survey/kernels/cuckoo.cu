// Cuckoo hashing with four functions: each thread puts a pair into the table by atomicExch and then has to place what
// it has thrown out; the few without a place go to a small stash. Then queries look at up to four places each.
#define FUNCTIONS 4
#define PRIME 4294967291ull
#define EMPTY 0xffffffffffffffffull
#define NOT_FOUND 0xffffffffu
#define STASH 101
#define MAX_MOVES 100

struct HashConstants {
    unsigned int a[FUNCTIONS];
    unsigned int b[FUNCTIONS];
};

__constant__ HashConstants hash_constants = {{0x9e3779b1u, 0x85ebca77u, 0xc2b2ae3du, 0x27d4eb2fu},
                                             {0x165667b1u, 0x2545f491u, 0x4f6cdd1du, 0x1b873593u}};

__device__ __forceinline__ unsigned int place_of(unsigned int key, int function, unsigned int slots) {
    unsigned long long h = (unsigned long long)hash_constants.a[function] * key + hash_constants.b[function];
    return (unsigned int)(h % PRIME % slots);
}

__device__ __forceinline__ unsigned int key_of(unsigned long long pair) {
    return (unsigned int)(pair >> 32);
}

extern "C" __global__ void cuckoo_clear(unsigned long long *table, unsigned long long *stash, unsigned int slots) {
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += gridDim.x * blockDim.x)
        table[i] = EMPTY;
    if (blockIdx.x == 0 && threadIdx.x < STASH)
        stash[threadIdx.x] = EMPTY;
}

extern "C" __global__ void cuckoo_insert(const unsigned int *__restrict__ keys,
                                         const unsigned int *__restrict__ values, unsigned long long *table,
                                         unsigned long long *stash, unsigned int *failures, unsigned int slots,
                                         unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long pair = (unsigned long long)keys[i] << 32 | values[i];
    unsigned int place = place_of(keys[i], 0, slots);
    for (int move = 0; move < MAX_MOVES; move++) {
        pair = atomicExch(&table[place], pair);
        if (pair == EMPTY)
            return;
        // the next of the functions of the key that was thrown out
        unsigned int key = key_of(pair);
        unsigned int next = place_of(key, 0, slots);
#pragma unroll
        for (int f = FUNCTIONS - 2; f >= 0; f--)
            if (place_of(key, f, slots) == place)
                next = place_of(key, f + 1, slots);
        place = next;
    }
    unsigned int slot = key_of(pair) % STASH;
    for (int k = 0; k < STASH; k++) {
        if (atomicCAS(&stash[slot], EMPTY, pair) == EMPTY)
            return;
        slot = (slot + 1) % STASH;
    }
    atomicAdd(failures, 1u);
}

extern "C" __global__ void cuckoo_find(const unsigned int *__restrict__ queries,
                                       const unsigned long long *__restrict__ table,
                                       const unsigned long long *__restrict__ stash, unsigned int *found,
                                       unsigned int slots, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned int key = queries[i];
    for (int f = 0; f < FUNCTIONS; f++) {
        unsigned long long pair = table[place_of(key, f, slots)];
        if (key_of(pair) == key) {
            found[i] = (unsigned int)pair;
            return;
        }
    }
    unsigned int slot = key % STASH;
    for (int k = 0; k < STASH; k++) {
        unsigned long long pair = stash[slot];
        if (pair == EMPTY)
            break;
        if (key_of(pair) == key) {
            found[i] = (unsigned int)pair;
            return;
        }
        slot = (slot + 1) % STASH;
    }
    found[i] = NOT_FOUND;
}

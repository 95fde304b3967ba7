// Is a buffer UTF-8? Each thread looks at 16 bytes of a tile in shared memory with a halo of 3 bytes at either end:
// the first error, how many errors there are, and how many characters of each length.
#define THREADS 128
#define PER_THREAD 16
#define TILE (THREADS * PER_THREAD)
#define HALO 3

struct Utf8Report {
    unsigned long long first_error;
    unsigned int errors;
    unsigned int characters[5];  // by their bytes
};

__device__ __forceinline__ bool continues(unsigned char c) {
    return (c & 0xc0) == 0x80;
}

// How many bytes a character has that begins so: 0 for a continuation, -1 for bytes that are never used.
__device__ __forceinline__ int length_of(unsigned char c) {
    if (c < 0x80)
        return 1;
    int ones = __clz(~((unsigned int)c << 24));
    if (ones == 1)
        return 0;
    return ones <= 4 ? ones : -1;
}

__device__ bool well_formed(const unsigned char *s, int length) {
    switch (length) {
    case 1:
        return true;
    case 2:
        return s[0] >= 0xc2 && continues(s[1]);
    case 3:
        if (!continues(s[1]) || !continues(s[2]))
            return false;
        if (s[0] == 0xe0 && s[1] < 0xa0)
            return false;  // has a shorter form
        return !(s[0] == 0xed && s[1] >= 0xa0);  // a surrogate
    case 4:
        if (!continues(s[1]) || !continues(s[2]) || !continues(s[3]))
            return false;
        if (s[0] == 0xf0 && s[1] < 0x90)
            return false;
        return s[0] < 0xf4 || (s[0] == 0xf4 && s[1] < 0x90);
    default:
        return false;
    }
}

extern "C" __global__ void utf8_check(const unsigned char *__restrict__ text, unsigned int n, Utf8Report *report) {
    __shared__ unsigned char tile[TILE + 2 * HALO];
    __shared__ unsigned int found[5];
    if (threadIdx.x < 5)
        found[threadIdx.x] = 0;
    long long first = (long long)blockIdx.x * TILE - HALO;
    for (int i = threadIdx.x; i < TILE + 2 * HALO; i += blockDim.x) {
        long long at = first + i;
        tile[i] = at >= 0 && at < n ? text[at] : 0;
    }
    __syncthreads();

    unsigned int counts[5] = {0, 0, 0, 0, 0};
    unsigned int errors = 0;
    unsigned long long first_error = ~0ull;
    for (int k = 0; k < PER_THREAD; k++) {
        int at = HALO + threadIdx.x * PER_THREAD + k;
        unsigned long long place = first + at;
        if (place >= n)
            break;
        int length = length_of(tile[at]);
        bool good;
        if (length == 0) {
            good = false;
            for (int back = 1; back <= HALO; back++)
                if (length_of(tile[at - back]) > back)
                    good = true;
        } else {
            good = well_formed(tile + at, length);
            if (good)
                counts[length]++;
        }
        if (!good) {
            errors++;
            if (place < first_error)
                first_error = place;
        }
    }
    for (int length = 1; length <= 4; length++)
        if (counts[length])
            atomicAdd(&found[length], counts[length]);
    if (errors) {
        atomicAdd(&report->errors, errors);
        atomicMin(&report->first_error, first_error);
    }
    __syncthreads();
    if (threadIdx.x >= 1 && threadIdx.x < 5)
        atomicAdd(&report->characters[threadIdx.x], found[threadIdx.x]);
}

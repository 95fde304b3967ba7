__device__ unsigned hsh(unsigned k) {
    k ^= k >> 16;
    k *= 0x85ebca6b;
    k ^= k >> 13;
    k *= 0xc2b2ae35;
    k ^= k >> 16;
    return k;
}

extern "C" __global__ void insert(unsigned *t, unsigned mask, const unsigned *keys, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned k = keys[i], s = hsh(k) & mask;
    while (true) {
        unsigned p = atomicCAS(&t[s], 0xffffffffu, k);
        if (p == 0xffffffffu || p == k)
            return;
        s = (s + 1) & mask;
    }
}

extern "C" __global__ void find(const unsigned *t, unsigned mask, const unsigned *keys, int *found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned k = keys[i], s = hsh(k) & mask;
    int r = 0;
    while (true) {
        unsigned p = t[s];
        if (p == k) {
            r = 1;
            break;
        }
        if (p == 0xffffffffu)
            break;
        s = (s + 1) & mask;
    }
    found[i] = r;
}

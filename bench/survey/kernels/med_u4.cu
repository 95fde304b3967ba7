// Takes salt and pepper out of a grey picture: medians of 3 x 3 for four pixels at once in a word, neighbours by
// funnel shifts, an exchange by the packed minimum and maximum; only what differs much from it is replaced.
__device__ __forceinline__ void order(unsigned int &a, unsigned int &b) {
    unsigned int low = __vminu4(a, b);
    b = __vmaxu4(a, b);
    a = low;
}

struct Triple {
    unsigned int left, middle, right;
};

__device__ __forceinline__ Triple around(const unsigned int *row, int x, int words) {
    unsigned int here = row[x];
    unsigned int before = x > 0 ? row[x - 1] : here << 24, after = x + 1 < words ? row[x + 1] : here >> 24;
    return {__funnelshift_l(before, here, 8), here, __funnelshift_r(here, after, 8)};
}

extern "C" __global__ void med_u4(const unsigned int *__restrict__ in, unsigned int *__restrict__ out,
                                  unsigned int *__restrict__ totals, int words, int height, int threshold) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned int replaced = 0, changed = 0;
    if (x < words && y < height) {
        Triple a = around(in + (size_t)max(y - 1, 0) * words, x, words);
        Triple b = around(in + (size_t)y * words, x, words);
        Triple c = around(in + (size_t)min(y + 1, height - 1) * words, x, words);
        unsigned int p = b.middle;
        order(a.left, a.middle), order(b.left, b.middle), order(c.left, c.middle);
        order(a.middle, a.right), order(b.middle, b.right), order(c.middle, c.right);
        order(a.left, a.middle), order(b.left, b.middle), order(c.left, c.middle);
        unsigned int low = __vmaxu4(__vmaxu4(a.left, b.left), c.left);
        unsigned int high = __vminu4(__vminu4(a.right, b.right), c.right);
        order(a.middle, b.middle);
        unsigned int middle = __vmaxu4(a.middle, __vminu4(b.middle, c.middle));
        order(low, middle);
        unsigned int median = __vmaxu4(low, __vminu4(middle, high));

        unsigned int mask = __vcmpgtu4(__vabsdiffu4(p, median), (unsigned int)threshold * 0x01010101u);
        unsigned int made = (median & mask) | (p & ~mask);
        out[(size_t)y * words + x] = made;
        replaced = __popc(mask) / 8;
        changed = __vsadu4(p, made);
    }
    replaced = __reduce_add_sync(0xffffffffu, replaced);
    changed = __reduce_add_sync(0xffffffffu, changed);
    if (((threadIdx.y * blockDim.x + threadIdx.x) & 31) == 0 && replaced) {
        atomicAdd(&totals[0], replaced);
        atomicAdd(&totals[1], changed);
    }
}

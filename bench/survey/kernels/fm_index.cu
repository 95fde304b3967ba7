// Exact matches of short patterns in a text by backward search in its FM-index: ranks are counts before each 64
// letters and bits below the place in two words. A thread for each pattern.
struct Part {
    unsigned before[4];
    unsigned long long low, high;
};

// How often `c` is among the first `i` letters of the transform. The end of text is kept as an A.
__device__ unsigned rank(const Part *parts, int c, unsigned i, unsigned end_at) {
    const Part &part = parts[i >> 6];
    unsigned long long mask = (1ULL << (i & 63)) - 1;
    unsigned long long low = (c & 1) ? part.low : ~part.low;
    unsigned long long high = (c & 2) ? part.high : ~part.high;
    unsigned count = part.before[c] + __popcll(low & high & mask);
    if (c == 0 && i > end_at)
        count--;
    return count;
}

extern "C" __global__ void fm_index(const Part *parts, const unsigned *first, const unsigned char *patterns,
                                    uint2 *ranges, int n, int length, unsigned letters, unsigned end_at) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n)
        return;
    const unsigned char *pattern = patterns + id * length;
    unsigned low = 0, high = letters;
    for (int k = length - 1; k >= 0; k--) {
        int c = pattern[k];
        low = first[c] + rank(parts, c, low, end_at);
        high = first[c] + rank(parts, c, high, end_at);
        if (low >= high)
            break;
    }
    ranges[id] = make_uint2(low, high);
}

// PNG's five filters of each row of an RGBA picture: a block a row, the one with the least sum of magnitudes wins.
enum { NONE, SUB, UP, AVERAGE, PAETH, FILTERS };

__device__ int paeth(int a, int b, int c) {
    int p = a + b - c;
    int pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    if (pa <= pb && pa <= pc)
        return a;
    return pb <= pc ? b : c;
}

__device__ unsigned char filtered(int kind, int x, int a, int b, int c) {
    switch (kind) {
    case SUB:
        return x - a;
    case UP:
        return x - b;
    case AVERAGE:
        return x - ((a + b) >> 1);
    case PAETH:
        return x - paeth(a, b, c);
    default:
        return x;
    }
}

template <int BPP> __device__ void filter_row(const unsigned char *row, const unsigned char *above,
                                              unsigned char *out, int bytes) {
    __shared__ int sums[FILTERS];
    __shared__ int best;
    if (threadIdx.x < FILTERS)
        sums[threadIdx.x] = 0;
    __syncthreads();
    int mine[FILTERS] = {0, 0, 0, 0, 0};
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) {
        int x = row[i], a = i >= BPP ? row[i - BPP] : 0, b = above ? above[i] : 0;
        int c = above && i >= BPP ? above[i - BPP] : 0;
#pragma unroll
        for (int k = 0; k < FILTERS; k++)
            mine[k] += abs((int)(signed char)filtered(k, x, a, b, c));
    }
#pragma unroll
    for (int k = 0; k < FILTERS; k++) {
        int s = __reduce_add_sync(0xffffffffu, mine[k]);
        if ((threadIdx.x & 31) == 0)
            atomicAdd(&sums[k], s);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        best = 0;
        for (int k = 1; k < FILTERS; k++)
            if (sums[k] < sums[best])
                best = k;
        out[0] = best;
    }
    __syncthreads();
    const int kind = best;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) {
        int a = i >= BPP ? row[i - BPP] : 0, b = above ? above[i] : 0, c = above && i >= BPP ? above[i - BPP] : 0;
        out[1 + i] = filtered(kind, row[i], a, b, c);
    }
}

extern "C" __global__ void png_pick(const unsigned char *image, unsigned char *out, int w) {
    const int bytes = 4 * w, y = blockIdx.x;
    const unsigned char *row = image + (size_t)y * bytes;
    filter_row<4>(row, y ? row - bytes : nullptr, out + (size_t)y * (bytes + 1), bytes);
}

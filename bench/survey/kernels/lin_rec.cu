// y[t] = a[t] y[t - 1] + b[t] in many rows: a scan of pairs, a block a row, each thread with four neighbours, warps by
// shuffles, what comes out at the end of a stretch is carried into the next.
#define THREADS 128
#define ITEMS 4

struct Affine {
    float a, b;
};

// First f, then g.
__device__ __forceinline__ Affine then(Affine f, Affine g) {
    return {f.a * g.a, fmaf(g.a, f.b, g.b)};
}

__device__ __forceinline__ Affine warp_scan(Affine v, int lane) {
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        Affine before = {__shfl_up_sync(0xffffffffu, v.a, d), __shfl_up_sync(0xffffffffu, v.b, d)};
        if (lane >= d)
            v = then(before, v);
    }
    return v;
}

extern "C" __global__ void __launch_bounds__(THREADS) lin_rec(const float *__restrict__ a, const float *__restrict__ b,
                                                              const float *__restrict__ start, float *__restrict__ y,
                                                              int length) {
    __shared__ Affine ends[THREADS / 32];
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const size_t row = (size_t)blockIdx.x * length;
    a += row;
    b += row;
    y += row;
    float carry = start[blockIdx.x];

    for (int base = 0; base < length; base += THREADS * ITEMS) {
        Affine item[ITEMS];
        const int first = base + tid * ITEMS;
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            item[i] = first + i < length ? Affine{a[first + i], b[first + i]} : Affine{1.0f, 0.0f};
            if (i > 0)
                item[i] = then(item[i - 1], item[i]);
        }
        Affine whole = warp_scan(item[ITEMS - 1], lane);
        if (lane == 31)
            ends[warp] = whole;
        Affine before = {__shfl_up_sync(0xffffffffu, whole.a, 1), __shfl_up_sync(0xffffffffu, whole.b, 1)};
        if (lane == 0)
            before = {1.0f, 0.0f};
        __syncthreads();
        Affine warps = {1.0f, 0.0f}, all = {1.0f, 0.0f};
#pragma unroll
        for (int w = 0; w < THREADS / 32; w++) {
            if (w == warp)
                warps = all;
            all = then(all, ends[w]);
        }
        before = then(warps, before);
        float in = fmaf(before.a, carry, before.b);
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (first + i < length)
                y[first + i] = fmaf(item[i].a, in, item[i].b);
        carry = fmaf(all.a, carry, all.b);
        __syncthreads();
    }
}

// Least, greatest, where they are, mean and variance of many numbers in one launch: the last block that finishes puts
// together what the others left.
#include <float.h>

struct Stats {
    double mean, m2;
    float low, high;
    int low_at, high_at;
    int count;
    int pad;
};

__device__ Stats none() {
    return {0.0, 0.0, FLT_MAX, -FLT_MAX, -1, -1, 0, 0};
}

__device__ __forceinline__ void extremes(Stats &s, float low, int low_at, float high, int high_at) {
    if (low_at >= 0 && (low < s.low || s.low_at < 0 || (low == s.low && low_at < s.low_at))) {
        s.low = low;
        s.low_at = low_at;
    }
    if (high_at >= 0 && (high > s.high || s.high_at < 0 || (high == s.high && high_at < s.high_at))) {
        s.high = high;
        s.high_at = high_at;
    }
}

struct Add {
    __device__ void operator()(Stats &s, float v, int i) const {
        extremes(s, v, i, v, i);
        s.count++;
        double d = v - s.mean;
        s.mean += d / s.count;
        s.m2 += d * (v - s.mean);
    }
};

struct Merge {
    __device__ void operator()(Stats &s, const Stats &o) const {
        extremes(s, o.low, o.low_at, o.high, o.high_at);
        int count = s.count + o.count;
        if (o.count > 0) {
            double d = o.mean - s.mean, share = (double)o.count / count;
            s.mean += d * share;
            s.m2 += o.m2 + d * d * s.count * share;
            s.count = count;
        }
    }
};

template <class T>
__device__ T shuffle_down(const T &value, int delta) {
    static_assert(sizeof(T) % 4 == 0, "words");
    union {
        T value;
        int words[sizeof(T) / 4];
    } in, out;
    in.value = value;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(T) / 4); i++)
        out.words[i] = __shfl_down_sync(0xffffffffu, in.words[i], delta);
    return out.value;
}

template <int THREADS, class Op>
__device__ Stats block_reduce(Stats s, Op op) {
    __shared__ Stats warps[THREADS / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int d = 16; d > 0; d >>= 1) {
        Stats o = shuffle_down(s, d);
        if (lane < d)
            op(s, o);
    }
    __syncthreads();
    if (lane == 0)
        warps[warp] = s;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < THREADS / 32; w++)
            op(s, warps[w]);
    return s;
}

extern "C" __global__ void __launch_bounds__(192) stats_once(const float *__restrict__ x, int n, Stats *partial,
                                                             unsigned *ticket, float *values, int *places) {
    __shared__ bool last;
    Stats s = none();
    Add add;
    Merge merge;
    const int stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 *x4 = reinterpret_cast<const float4 *>(x);
    for (int i = first; i < n / 4; i += stride) {
        float4 v = x4[i];
        add(s, v.x, 4 * i);
        add(s, v.y, 4 * i + 1);
        add(s, v.z, 4 * i + 2);
        add(s, v.w, 4 * i + 3);
    }
    for (int i = n / 4 * 4 + first; i < n; i += stride)
        add(s, x[i], i);
    s = block_reduce<192>(s, merge);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s;
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    s = none();
    for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        merge(s, partial[b]);
    s = block_reduce<192>(s, merge);
    if (threadIdx.x == 0) {
        values[0] = s.low;
        values[1] = s.high;
        values[2] = (float)s.mean;
        values[3] = (float)(s.m2 / (s.count - 1));
        places[0] = s.low_at;
        places[1] = s.high_at;
    }
}

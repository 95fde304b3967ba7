// Distances of all pairs of two lists of rows under several norms: a block of 64 threads a pair, norms as classes.
template <typename scalar_t> struct dists {
    static __device__ __forceinline__ scalar_t sign(scalar_t val) { return (0 < val) - (val < 0); }
    struct one {
        static __device__ __forceinline__ void inc(scalar_t &agg, scalar_t diff, scalar_t) { agg += diff; }
        static __device__ __forceinline__ scalar_t finish(scalar_t agg, scalar_t) { return agg; }
        static __device__ __forceinline__ void agg(scalar_t &update, scalar_t other) { update += other; }
    };
    struct two {
        static __device__ __forceinline__ void inc(scalar_t &agg, scalar_t diff, scalar_t) { agg += diff * diff; }
        static __device__ __forceinline__ scalar_t finish(scalar_t agg, scalar_t) { return ::sqrt(agg); }
        static __device__ __forceinline__ void agg(scalar_t &update, scalar_t other) { update += other; }
    };
    struct general {
        static __device__ __forceinline__ void inc(scalar_t &agg, scalar_t diff, scalar_t p) { agg += ::pow(diff, p); }
        static __device__ __forceinline__ scalar_t finish(scalar_t agg, scalar_t p) {
            return ::pow(agg, static_cast<scalar_t>(1) / p);
        }
        static __device__ __forceinline__ void agg(scalar_t &update, scalar_t other) { update += other; }
    };
    struct inf {
        static __device__ __forceinline__ void inc(scalar_t &agg, scalar_t diff, scalar_t) {
            if (diff > agg)
                agg = diff;
        }
        static __device__ __forceinline__ scalar_t finish(scalar_t agg, scalar_t) { return agg; }
        static __device__ __forceinline__ void agg(scalar_t &update, scalar_t other) {
            if (other > update)
                update = other;
        }
    };
};

template <typename F, typename scalar_t> __device__ scalar_t reduce_agg(scalar_t agg) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        F::agg(agg, __shfl_down_sync(0xffffffff, agg, offset));
    __shared__ scalar_t shared[32];
    int lane = threadIdx.x % warpSize, warp_id = threadIdx.x / warpSize;
    if (lane == 0)
        shared[warp_id] = agg;
    __syncthreads();
    agg = threadIdx.x < blockDim.x / warpSize ? shared[lane] : 0;
    if (warp_id == 0)
        for (int offset = blockDim.x / warpSize / 2; offset > 0; offset /= 2)
            F::agg(agg, __shfl_down_sync(0xffffffff, agg, offset));
    return agg;
}

template <typename scalar_t, typename F>
__device__ void cdist(scalar_t *result, const scalar_t *x1, const scalar_t *x2, scalar_t p, long long r1, long long r2,
                      long long m) {
    const long long i = blockIdx.x / r2, j = blockIdx.x % r2;
    const int stride = blockDim.x;
    const scalar_t *const start = x1 + i * m, *const end = start + m;
    const scalar_t *a = start + threadIdx.x, *b = x2 + j * m + threadIdx.x;
    scalar_t agg = 0;
    for (; a < end; a += stride, b += stride)
        F::inc(agg, ::abs(*a - *b), p);
    agg = reduce_agg<F>(agg);
    if (threadIdx.x == 0)
        result[blockIdx.x] = F::finish(agg, p);
}

extern "C" __global__ void cdist_one(float *result, const float *x1, const float *x2, float p, long long r1,
                                     long long r2, long long m) {
    cdist<float, dists<float>::one>(result, x1, x2, p, r1, r2, m);
}
extern "C" __global__ void cdist_two(float *result, const float *x1, const float *x2, float p, long long r1,
                                     long long r2, long long m) {
    cdist<float, dists<float>::two>(result, x1, x2, p, r1, r2, m);
}
extern "C" __global__ void cdist_general(float *result, const float *x1, const float *x2, float p, long long r1,
                                         long long r2, long long m) {
    cdist<float, dists<float>::general>(result, x1, x2, p, r1, r2, m);
}
extern "C" __global__ void cdist_inf(float *result, const float *x1, const float *x2, float p, long long r1,
                                     long long r2, long long m) {
    cdist<float, dists<float>::inf>(result, x1, x2, p, r1, r2, m);
}

// Gradient for x1 under the 2-norm: a row of threads has a part of the features, and goes over the second list.
extern "C" __global__ void cdist_two_backward(float *buffer, const float *grad, const float *x1, const float *x2,
                                              const float *dist, long long r1, long long r2, long long m) {
    long long i = blockIdx.y * blockDim.y + threadIdx.y;
    long long k = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= r1 || k >= m)
        return;
    float self = x1[i * m + k], sum = 0.0f;
    for (long long j = 0; j < r2; j++) {
        float d = dist[i * r2 + j];
        sum += d == 0.0f ? 0.0f : grad[i * r2 + j] * (self - x2[j * m + k]) / d;
    }
    buffer[i * m + k] = sum;
}

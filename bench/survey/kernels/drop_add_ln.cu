// Dropout, addition of the residual and layer norm in one, in half precision: a warp a row, each lane three times
// eight numbers in registers, random numbers by Philox, the dropped mask kept for the backward pass.
#include <cuda_fp16.h>

struct Philox {
    uint2 key;
    uint4 counter;
    __device__ Philox(unsigned long long seed, unsigned long long sequence, unsigned long long offset) {
        key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
        counter = make_uint4((unsigned)offset, (unsigned)(offset >> 32), (unsigned)sequence,
                             (unsigned)(sequence >> 32));
    }
    __device__ uint4 operator()() {
        uint4 c = counter;
        uint2 k = key;
#pragma unroll
        for (int i = 0; i < 9; i++) {
            c = single_round(c, k);
            k.x += 0x9E3779B9;
            k.y += 0xBB67AE85;
        }
        if (++counter.x == 0)
            ++counter.y;
        return single_round(c, k);
    }
    static __device__ uint4 single_round(uint4 c, uint2 k) {
        unsigned hi0 = __umulhi(0xD2511F53, c.x), lo0 = 0xD2511F53 * c.x;
        unsigned hi1 = __umulhi(0xCD9E8D57, c.z), lo1 = 0xCD9E8D57 * c.z;
        return make_uint4(hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0);
    }
};

template <typename Elt, int NUM> struct alignas(sizeof(Elt) * NUM) Vec {
    Elt elt[NUM];
    __device__ void load_from(const void *base, long long idx) { *this = static_cast<const Vec *>(base)[idx]; }
    __device__ void store_to(void *base, long long idx) const { static_cast<Vec *>(base)[idx] = *this; }
};

template <int COLS_, int WARPS_, int ELTS_> struct Traits {
    enum { COLS = COLS_, WARPS = WARPS_, ELTS = ELTS_, LDGS = COLS_ / (32 * ELTS_), VEC_COLS = COLS_ / ELTS_ };
    static_assert(COLS_ % (32 * ELTS_) == 0, "");
};

__device__ __forceinline__ float all_reduce(float x) {
#pragma unroll
    for (int it = 1; it < 32; it *= 2)
        x += __shfl_xor_sync(0xffffffffu, x, it);
    return x;
}

template <typename T>
__device__ __forceinline__ void dropout_add_ln(const half *x0, const half *residual, const half *gamma,
                                               const half *beta, half *x, half *z, unsigned char *dmask, float *mu,
                                               float *rs, int rows, unsigned keep_below, float scale, float eps,
                                               unsigned long long seed) {
    using In = Vec<half, T::ELTS>;
    using Mask = Vec<unsigned char, T::ELTS>;
    int lane = threadIdx.x % 32, warp_m = threadIdx.x / 32;
    int r = blockIdx.x * T::WARPS + warp_m;
    In g[T::LDGS], b[T::LDGS];
#pragma unroll
    for (int it = 0; it < T::LDGS; it++) {
        g[it].load_from(gamma, lane + it * 32);
        b[it].load_from(beta, lane + it * 32);
    }
    Philox gen(seed, blockIdx.x * blockDim.x + threadIdx.x, 0);
    for (int row = r; row < rows; row += gridDim.x * T::WARPS) {
        float xf[T::LDGS][T::ELTS];
        long long idx = (long long)row * T::VEC_COLS + lane;
        float sum = 0.0f;
#pragma unroll
        for (int it = 0; it < T::LDGS; it++, idx += 32) {
            In in, res, out;
            Mask mask;
            in.load_from(x0, idx);
            res.load_from(residual, idx);
            unsigned random[T::ELTS];
#pragma unroll
            for (int j = 0; j < T::ELTS; j += 4)
                *reinterpret_cast<uint4 *>(&random[j]) = gen();
#pragma unroll
            for (int j = 0; j < T::ELTS; j++) {
                bool keep = random[j] < keep_below;
                mask.elt[j] = keep;
                float v = (keep ? __half2float(in.elt[j]) * scale : 0.0f) + __half2float(res.elt[j]);
                out.elt[j] = __float2half(v);
                xf[it][j] = v;
                sum += v;
            }
            out.store_to(x, idx);
            mask.store_to(dmask, idx);
        }
        float mean = all_reduce(sum) / T::COLS;
        float m2 = 0.0f;
#pragma unroll
        for (int it = 0; it < T::LDGS; it++)
#pragma unroll
            for (int j = 0; j < T::ELTS; j++)
                m2 += (xf[it][j] - mean) * (xf[it][j] - mean);
        float rsigma = rsqrtf(all_reduce(m2) / T::COLS + eps);
        if (lane == 0) {
            mu[row] = mean;
            rs[row] = rsigma;
        }
        idx = (long long)row * T::VEC_COLS + lane;
#pragma unroll
        for (int it = 0; it < T::LDGS; it++, idx += 32) {
            In out;
#pragma unroll
            for (int j = 0; j < T::ELTS; j++)
                out.elt[j] = __float2half(__half2float(g[it].elt[j]) * (rsigma * (xf[it][j] - mean)) +
                                          __half2float(b[it].elt[j]));
            out.store_to(z, idx);
        }
    }
}

extern "C" __global__ void __launch_bounds__(128)
    drop_add_ln(const half *x0, const half *residual, const half *gamma, const half *beta, half *x, half *z,
                unsigned char *dmask, float *mu, float *rs, int rows, unsigned keep_below, float scale, float eps,
                unsigned long long seed) {
    dropout_add_ln<Traits<768, 4, 8>>(x0, residual, gamma, beta, x, z, dmask, mu, rs, rows, keep_below, scale, eps,
                                      seed);
}

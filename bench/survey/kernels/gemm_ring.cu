#include <cuda_pipeline.h>

// relu(A B + bias): tiles pass through a ring of three buffers that asynchronous copies fill two steps ahead.
template <int BM, int BN, int BK, int STAGES>
struct Ring {
    float a[STAGES][BM][BK + 4];
    float b[STAGES][BK][BN];
};

template <int BM, int BN, int BK, int STAGES, int THREADS>
__device__ void fetch(Ring<BM, BN, BK, STAGES> &ring, int stage, const float *a, const float *b, int m, int n, int k,
                      int row0, int col0, int k0) {
#pragma unroll
    for (int i = threadIdx.x; i < BM * BK / 4; i += THREADS) {
        int r = i / (BK / 4), c = i % (BK / 4) * 4;
        bool inside = row0 + r < m && k0 + c < k;
        const float *from = inside ? a + (size_t)(row0 + r) * k + k0 + c : a;
        __pipeline_memcpy_async(&ring.a[stage][r][c], from, 16, inside ? 0 : 16);
    }
#pragma unroll
    for (int i = threadIdx.x; i < BK * BN / 4; i += THREADS) {
        int r = i / (BN / 4), c = i % (BN / 4) * 4;
        bool inside = k0 + r < k && col0 + c < n;
        const float *from = inside ? b + (size_t)(k0 + r) * n + col0 + c : b;
        __pipeline_memcpy_async(&ring.b[stage][r][c], from, 16, inside ? 0 : 16);
    }
}

// n and k are multiples of four
extern "C" __global__ void __launch_bounds__(256) gemm_ring(const float *__restrict__ a, const float *__restrict__ b,
                                                            const float *__restrict__ bias, float *__restrict__ c,
                                                            int m, int n, int k) {
    constexpr int BM = 128, BN = 64, BK = 16, STAGES = 3, TM = 8, TN = 4, THREADS = 256;
    extern __shared__ __align__(16) unsigned char memory[];
    auto &ring = *reinterpret_cast<Ring<BM, BN, BK, STAGES> *>(memory);
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int ty = threadIdx.x / (BN / TN), tx = threadIdx.x % (BN / TN);
    const int tiles = (k + BK - 1) / BK;

#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < tiles)
            fetch<BM, BN, BK, STAGES, THREADS>(ring, s, a, b, m, n, k, row0, col0, s * BK);
        __pipeline_commit();
    }
    float sum[TM][TN] = {};
    for (int t = 0; t < tiles; t++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        int ahead = t + STAGES - 1;
        if (ahead < tiles)
            fetch<BM, BN, BK, STAGES, THREADS>(ring, ahead % STAGES, a, b, m, n, k, row0, col0, ahead * BK);
        __pipeline_commit();
        int s = t % STAGES;
#pragma unroll
        for (int kk = 0; kk < BK; kk++) {
            float4 right = *reinterpret_cast<const float4 *>(&ring.b[s][kk][tx * TN]);
            float left[TM];
#pragma unroll
            for (int i = 0; i < TM; i++)
                left[i] = ring.a[s][ty * TM + i][kk];
#pragma unroll
            for (int i = 0; i < TM; i++) {
                sum[i][0] = fmaf(left[i], right.x, sum[i][0]);
                sum[i][1] = fmaf(left[i], right.y, sum[i][1]);
                sum[i][2] = fmaf(left[i], right.z, sum[i][2]);
                sum[i][3] = fmaf(left[i], right.w, sum[i][3]);
            }
        }
    }
    int col = col0 + tx * TN;
    if (col >= n)
        return;
    float4 add = *reinterpret_cast<const float4 *>(bias + col);
#pragma unroll
    for (int i = 0; i < TM; i++) {
        int row = row0 + ty * TM + i;
        if (row >= m)
            break;
        float4 v = make_float4(fmaxf(sum[i][0] + add.x, 0.f), fmaxf(sum[i][1] + add.y, 0.f),
                               fmaxf(sum[i][2] + add.z, 0.f), fmaxf(sum[i][3] + add.w, 0.f));
        *reinterpret_cast<float4 *>(c + (size_t)row * n + col) = v;
    }
}

// C = alpha A B' + beta C for any sizes: tiles of 64 x 64, four by four numbers a thread, loads of four numbers into two
// shared buffers in turn.
#include <cuda_runtime.h>

template <int BM, int BN, int BK>
struct alignas(16) Tiles {
    float a[2][BK][BM + 4];
    float b[2][BK][BN + 4];
};

// Four numbers of a row, zeros beyond its end or if the row is not there.
__device__ __forceinline__ float4 load4(const float *__restrict__ m, int row, int rows, int col, int cols, int ld) {
    float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
    if (row < rows) {
        const float *p = m + (size_t)row * ld + col;
        if (col + 3 < cols) {
            v = __ldg(reinterpret_cast<const float4 *>(p));
        } else {
            if (col < cols)
                v.x = p[0];
            if (col + 1 < cols)
                v.y = p[1];
            if (col + 2 < cols)
                v.z = p[2];
        }
    }
    return v;
}

template <int LD>
__device__ __forceinline__ void store_transposed(float (*tile)[LD], int row, int col, float4 v) {
    tile[col][row] = v.x;
    tile[col + 1][row] = v.y;
    tile[col + 2][row] = v.z;
    tile[col + 3][row] = v.w;
}

template <int BM, int BN, int BK, int TM, int TN>
__device__ void gemm_nt(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int m, int n,
                        int k, int lda, int ldb, int ldc, float alpha, float beta) {
    __shared__ Tiles<BM, BN, BK> s;
    const int tid = threadIdx.x;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int lr = tid / (BK / 4), lc = tid % (BK / 4) * 4;
    const int ty = tid / (BN / TN) * TM, tx = tid % (BN / TN) * TN;

    float acc[TM][TN] = {};
    float4 ra = load4(A, row0 + lr, m, lc, k, lda);
    float4 rb = load4(B, col0 + lr, n, lc, k, ldb);
    store_transposed(s.a[0], lr, lc, ra);
    store_transposed(s.b[0], lr, lc, rb);
    __syncthreads();

    int cur = 0;
    for (int k0 = 0; k0 < k; k0 += BK) {
        const bool more = k0 + BK < k;
        if (more) {
            ra = load4(A, row0 + lr, m, k0 + BK + lc, k, lda);
            rb = load4(B, col0 + lr, n, k0 + BK + lc, k, ldb);
        }
#pragma unroll
        for (int kk = 0; kk < BK; kk++) {
            float4 fa = *reinterpret_cast<const float4 *>(&s.a[cur][kk][ty]);
            float4 fb = *reinterpret_cast<const float4 *>(&s.b[cur][kk][tx]);
            float a[TM] = {fa.x, fa.y, fa.z, fa.w}, b[TN] = {fb.x, fb.y, fb.z, fb.w};
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
                    acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
        }
        if (more) {
            cur ^= 1;
            store_transposed(s.a[cur], lr, lc, ra);
            store_transposed(s.b[cur], lr, lc, rb);
            __syncthreads();
        }
    }
#pragma unroll
    for (int i = 0; i < TM; i++) {
        int r = row0 + ty + i;
        if (r >= m)
            break;
#pragma unroll
        for (int j = 0; j < TN; j++) {
            int c = col0 + tx + j;
            if (c < n) {
                float *p = C + (size_t)r * ldc + c;
                *p = beta == 0.f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * *p;
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) sgemm_nt(const float *__restrict__ A, const float *__restrict__ B,
                                                           float *__restrict__ C, int m, int n, int k, int lda, int ldb,
                                                           int ldc, float alpha, float beta) {
    gemm_nt<64, 64, 16, 4, 4>(A, B, C, m, n, k, lda, ldb, ldc, alpha, beta);
}

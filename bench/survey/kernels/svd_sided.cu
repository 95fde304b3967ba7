// Singular values and vectors of many 32 x 16 matrices by one-sided Jacobi: 8 warps a matrix, each of which makes one
// pair of columns orthogonal, in rounds of a tournament.
#define ROWS 32
#define COLS 16
#define MAX_SWEEPS 12

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1)
        x += __shfl_xor_sync(0xffffffff, x, mask);
    return x;
}

extern "C" __global__ void svd_sided(const float *__restrict__ matrices, float *__restrict__ u,
                                     float *__restrict__ sigma, float *__restrict__ v, float eps) {
    __shared__ float a[COLS][ROWS], w[COLS][COLS], norm[COLS];
    int lane = threadIdx.x, warp = threadIdx.y, tid = warp * 32 + lane;
    const float *from = matrices + (size_t)blockIdx.x * ROWS * COLS;
    for (int i = tid; i < ROWS * COLS; i += 256)
        a[i % COLS][i / COLS] = from[i];
    w[tid / COLS][tid % COLS] = tid / COLS == tid % COLS ? 1.0f : 0.0f;
    __syncthreads();

    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        int rotated = 0;
        for (int round = 0; round < COLS - 1; round++) {
            int p = (round + warp) % (COLS - 1), q = (round - warp + COLS - 1) % (COLS - 1);
            if (warp == 0)
                q = COLS - 1;
            if (p > q) {
                int t = p;
                p = q;
                q = t;
            }
            float x = a[p][lane], y = a[q][lane];
            float alpha = warp_sum(x * x), beta = warp_sum(y * y), gamma = warp_sum(x * y);
            if (fabsf(gamma) > eps * sqrtf(alpha * beta)) {
                rotated = 1;
                float zeta = (beta - alpha) / (2.0f * gamma);
                float t = copysignf(1.0f, zeta) / (fabsf(zeta) + sqrtf(1.0f + zeta * zeta));
                float c = rsqrtf(1.0f + t * t), s = c * t;
                a[p][lane] = c * x - s * y;
                a[q][lane] = s * x + c * y;
                if (lane < COLS) {
                    float vp = w[p][lane], vq = w[q][lane];
                    w[p][lane] = c * vp - s * vq;
                    w[q][lane] = s * vp + c * vq;
                }
            }
            __syncthreads();
        }
        if (!__syncthreads_or(rotated))
            break;
    }
    for (int j = warp; j < COLS; j += 8) {
        float n = sqrtf(warp_sum(a[j][lane] * a[j][lane]));
        if (lane == 0)
            norm[j] = n;
    }
    __syncthreads();
    // the greatest first
    for (int j = warp; j < COLS; j += 8) {
        float mine = norm[j];
        bool before = lane < COLS && (norm[lane % COLS] > mine || (norm[lane % COLS] == mine && lane < j));
        int rank = __popc(__ballot_sync(0xffffffff, before));
        u[((size_t)blockIdx.x * COLS + rank) * ROWS + lane] = mine > 0.0f ? a[j][lane] / mine : 0.0f;
        if (lane < COLS)
            v[((size_t)blockIdx.x * COLS + rank) * COLS + lane] = w[j][lane];
        if (lane == 0)
            sigma[blockIdx.x * COLS + rank] = mine;
    }
}

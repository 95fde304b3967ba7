// The earth mover's distance of two clouds by an auction: points without a partner bid for the best place by what it is
// worth less its price, places go to the highest bid, and whoever had them is free again; rounds of three launches.
#define TILE 256

extern "C" __global__ __launch_bounds__(TILE) void emd_bid(int n, const float *__restrict__ xyz1,
                                                           const float *__restrict__ xyz2, float eps,
                                                           const int *__restrict__ assignment,
                                                           const float *__restrict__ price, int *__restrict__ bid,
                                                           float *__restrict__ bid_increments,
                                                           unsigned long long *max_increments) {
    __shared__ float xyz2_buf[TILE * 3];
    __shared__ float price_buf[TILE];
    const int b = blockIdx.y;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool active = i < n && assignment[b * n + i] == -1;
    float x = 0, y = 0, z = 0;
    if (active) {
        x = xyz1[(b * n + i) * 3];
        y = xyz1[(b * n + i) * 3 + 1];
        z = xyz1[(b * n + i) * 3 + 2];
    }
    float best = -1e9f, better = -1e9f;
    int best_i = -1;
    if (__syncthreads_count(active) == 0)
        return;
    for (int k2 = 0; k2 < n; k2 += TILE) {
        int end_k = min(n, k2 + TILE) - k2;
        for (int j = threadIdx.x; j < end_k * 3; j += blockDim.x)
            xyz2_buf[j] = xyz2[(b * n + k2) * 3 + j];
        for (int j = threadIdx.x; j < end_k; j += blockDim.x)
            price_buf[j] = price[b * n + k2 + j];
        __syncthreads();
        if (active)
            for (int k = 0; k < end_k; k++) {
                float x2 = xyz2_buf[k * 3] - x, y2 = xyz2_buf[k * 3 + 1] - y, z2 = xyz2_buf[k * 3 + 2] - z;
                float d = 3.0f - sqrtf(x2 * x2 + y2 * y2 + z2 * z2) - price_buf[k];
                if (d > best) {
                    better = best;
                    best = d;
                    best_i = k + k2;
                } else if (d > better) {
                    better = d;
                }
            }
        __syncthreads();
    }
    if (active) {
        float increment = best - better + eps;
        bid[b * n + i] = best_i;
        bid_increments[b * n + i] = increment;
        atomicMax(&max_increments[b * n + best_i],
                  (unsigned long long)__float_as_uint(increment) << 32 | (unsigned)(i + 1));
    }
}

extern "C" __global__ void emd_assign(int n, int *assignment, int *assignment_inv, float *__restrict__ price,
                                      unsigned long long *__restrict__ max_increments) {
    const int b = blockIdx.y;
    for (int j = threadIdx.x + blockIdx.x * blockDim.x; j < n; j += blockDim.x * gridDim.x) {
        unsigned long long bid = max_increments[b * n + j];
        if (bid == 0)
            continue;
        int i = (int)(unsigned)bid - 1;
        int before = assignment_inv[b * n + j];
        if (before != -1)
            assignment[b * n + before] = -1;
        assignment_inv[b * n + j] = i;
        assignment[b * n + i] = j;
        price[b * n + j] += __uint_as_float((unsigned)(bid >> 32));
        max_increments[b * n + j] = 0;
    }
}

extern "C" __global__ void emd_cost(int n, const float *__restrict__ xyz1, const float *__restrict__ xyz2,
                                    const int *__restrict__ assignment, float *__restrict__ dist, int *unassigned) {
    const int b = blockIdx.y;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool lonely = false;
    if (i < n) {
        int k = assignment[b * n + i];
        lonely = k < 0;
        float d = 0.0f;
        if (k >= 0)
            for (int c = 0; c < 3; c++) {
                float t = xyz1[(b * n + i) * 3 + c] - xyz2[(b * n + k) * 3 + c];
                d += t * t;
            }
        dist[b * n + i] = d;
    }
    unsigned votes = __ballot_sync(0xffffffffu, lonely);
    if ((threadIdx.x & 31) == 0 && votes)
        atomicAdd(&unassigned[b], __popc(votes));
}

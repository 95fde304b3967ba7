// A node of a gradient-boosted tree: histograms of the gradients over 64 bins of each feature (in fixed point, so
// that their order does not matter), the best split, and where each row of the node goes.
#include <stdint.h>

#define BINS 64
#define PER_BLOCK 8  // features a block

typedef unsigned long long u64;

struct Split {
    float gain;
    int feature, bin;
    float left_grad, left_hess;
};

extern "C" __global__ void gbdt_clear(u64 *hist, unsigned int *left_count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        hist[i] = 0;
    if (i == 0)
        *left_count = 0;
}

extern "C" __global__ void gbdt_hist(const uint8_t *__restrict__ bins, const float2 *__restrict__ gradients,
                                     const uint32_t *__restrict__ rows, u64 *__restrict__ hist, int count,
                                     int features, float to_fixed) {
    __shared__ u64 mine[PER_BLOCK][BINS][2];
    u64 *flat = &mine[0][0][0];
    for (int i = threadIdx.x; i < PER_BLOCK * BINS * 2; i += blockDim.x)
        flat[i] = 0;
    __syncthreads();
    int first = blockIdx.y * PER_BLOCK, last = min(features, first + PER_BLOCK);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        uint32_t row = rows[i];
        float2 gh = gradients[row];
        u64 g = (u64)__float2ll_rn(gh.x * to_fixed), h = (u64)__float2ll_rn(gh.y * to_fixed);
        const uint8_t *at = bins + (size_t)row * features;
        for (int f = first; f < last; f++) {
            int bin = at[f];
            atomicAdd(&mine[f - first][bin][0], g);
            atomicAdd(&mine[f - first][bin][1], h);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < (last - first) * BINS * 2; i += blockDim.x)
        if (flat[i])
            atomicAdd(&hist[(size_t)first * BINS * 2 + i], flat[i]);
}

__device__ inline float score(float g, float h, float lambda) {
    return g * g / (h + lambda);
}

__device__ inline bool better(float gain, int place, float than, int than_place) {
    return gain > than || (gain == than && place < than_place);
}

// a warp for each feature: sums up to each bin by shuffles
extern "C" __global__ void gbdt_splits(const longlong2 *__restrict__ hist, Split *__restrict__ splits, int features,
                                       float from_fixed, float lambda, float min_child) {
    int feature = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (feature >= features)
        return;
    Split best = {-INFINITY, feature, 0, 0.0f, 0.0f};
    longlong2 total = {0, 0};
    for (int bin = lane; bin < BINS; bin += 32) {
        longlong2 x = hist[feature * BINS + bin];
        total.x += x.x;
        total.y += x.y;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        total.x += __shfl_xor_sync(0xffffffff, total.x, offset);
        total.y += __shfl_xor_sync(0xffffffff, total.y, offset);
    }
    float all_g = total.x * from_fixed, all_h = total.y * from_fixed;
    float parent = score(all_g, all_h, lambda);
    longlong2 carried = {0, 0};
    for (int start = 0; start < BINS; start += 32) {
        longlong2 x = hist[feature * BINS + start + lane];
        for (int offset = 1; offset < 32; offset *= 2) {
            long long gx = __shfl_up_sync(0xffffffff, x.x, offset), hx = __shfl_up_sync(0xffffffff, x.y, offset);
            if (lane >= offset) {
                x.x += gx;
                x.y += hx;
            }
        }
        x.x += carried.x;
        x.y += carried.y;
        carried.x = __shfl_sync(0xffffffff, x.x, 31);
        carried.y = __shfl_sync(0xffffffff, x.y, 31);
        float lg = x.x * from_fixed, lh = x.y * from_fixed;
        float rg = (total.x - x.x) * from_fixed, rh = (total.y - x.y) * from_fixed;
        if (lh < min_child || rh < min_child)
            continue;
        float gain = score(lg, lh, lambda) + score(rg, rh, lambda) - parent;
        if (gain > best.gain)
            best = {gain, feature, start + lane, lg, lh};
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        Split other;
        other.gain = __shfl_down_sync(0xffffffff, best.gain, offset);
        other.bin = __shfl_down_sync(0xffffffff, best.bin, offset);
        other.left_grad = __shfl_down_sync(0xffffffff, best.left_grad, offset);
        other.left_hess = __shfl_down_sync(0xffffffff, best.left_hess, offset);
        other.feature = feature;
        if (better(other.gain, other.bin, best.gain, best.bin))
            best = other;
    }
    if (lane == 0)
        splits[feature] = best;
}

extern "C" __global__ void gbdt_best(const Split *__restrict__ splits, Split *__restrict__ best, int features) {
    __shared__ Split found[128];
    Split mine = {-INFINITY, features, 0, 0.0f, 0.0f};
    for (int f = threadIdx.x; f < features; f += blockDim.x)
        if (splits[f].gain > mine.gain)
            mine = splits[f];
    found[threadIdx.x] = mine;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            Split other = found[threadIdx.x + step];
            if (better(other.gain, other.feature, found[threadIdx.x].gain, found[threadIdx.x].feature))
                found[threadIdx.x] = other;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *best = found[0];
}

extern "C" __global__ void gbdt_route(const uint8_t *__restrict__ bins, const uint32_t *__restrict__ rows,
                                      const Split *__restrict__ best, int *__restrict__ node_of,
                                      unsigned int *left_count, int count, int features, int node) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool left = false;
    if (i < count) {
        uint32_t row = rows[i];
        left = bins[(size_t)row * features + best->feature] <= best->bin;
        node_of[row] = 2 * node + (left ? 1 : 2);
    }
    unsigned int votes = __ballot_sync(0xffffffff, left);
    if (threadIdx.x % 32 == 0 && votes)
        atomicAdd(left_count, (unsigned int)__popc(votes));
}

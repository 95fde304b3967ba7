// Soft suppression of boxes, a block a class: by turns the best box that is left (a reduction of score and index), then
// all others' scores fall by how much they overlap it, linearly or as a Gaussian.
#define SOFT_THREADS 192

enum { LINEAR = 1, GAUSSIAN = 2 };

struct Best {
    float score;
    int index;
};

__device__ __forceinline__ Best better(const Best &a, const Best &b) {
    return (b.score > a.score || (b.score == a.score && b.index < a.index)) ? b : a;
}

__device__ __forceinline__ Best warp_best(Best v) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        Best other;
        other.score = __shfl_xor_sync(0xffffffff, v.score, offset);
        other.index = __shfl_xor_sync(0xffffffff, v.index, offset);
        v = better(v, other);
    }
    return v;
}

__device__ float iou(const float4 &a, const float4 &b) {
    float left = fmaxf(a.x, b.x), right = fminf(a.z, b.z);
    float top = fmaxf(a.y, b.y), bottom = fminf(a.w, b.w);
    float inter = fmaxf(right - left, 0.f) * fmaxf(bottom - top, 0.f);
    float sa = (a.z - a.x) * (a.w - a.y), sb = (b.z - b.x) * (b.w - b.y);
    return inter / (sa + sb - inter);
}

extern "C" __global__ __launch_bounds__(SOFT_THREADS) void soft_nms(const float4 *__restrict__ boxes,
                                                                    const float *__restrict__ scores, int n, int method,
                                                                    float sigma, float iou_threshold,
                                                                    float min_score, int max_keep,
                                                                    int *__restrict__ keep,
                                                                    float *__restrict__ keep_score,
                                                                    int *__restrict__ keep_count) {
    extern __shared__ float current[];
    __shared__ Best partial[SOFT_THREADS / 32];
    __shared__ Best chosen;
    const int c = blockIdx.x;
    boxes += (long long)c * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        current[i] = scores[(long long)c * n + i];
    __syncthreads();

    int kept = 0;
    while (kept < max_keep) {
        Best mine = {-1.0f, 0x7fffffff};
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            mine = better(mine, Best{current[i], i});
        mine = warp_best(mine);
        if ((threadIdx.x & 31) == 0)
            partial[threadIdx.x >> 5] = mine;
        __syncthreads();
        if (threadIdx.x < 32) {
            mine = threadIdx.x < SOFT_THREADS / 32 ? partial[threadIdx.x] : Best{-1.0f, 0x7fffffff};
            mine = warp_best(mine);
            if (threadIdx.x == 0) {
                chosen = mine;
                if (mine.score >= min_score) {
                    keep[c * max_keep + kept] = mine.index;
                    keep_score[c * max_keep + kept] = mine.score;
                    current[mine.index] = -1.0f;
                }
            }
        }
        __syncthreads();
        if (chosen.score < min_score)
            break;
        float4 box = boxes[chosen.index];
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            float score = current[i];
            if (score < min_score)
                continue;
            float overlap = iou(box, boxes[i]), weight = 1.0f;
            switch (method) {
                case LINEAR:
                    if (overlap > iou_threshold)
                        weight = 1.0f - overlap;
                    break;
                case GAUSSIAN:
                    weight = expf(-(overlap * overlap) / sigma);
                    break;
                default:
                    weight = overlap > iou_threshold ? 0.0f : 1.0f;
            }
            current[i] = score * weight;
        }
        kept++;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        keep_count[c] = kept;
}

// Alternating least squares for implicit feedback: the users' factors by a few steps of conjugate gradients each. A
// block of 64 threads, one for each factor, goes from user to user.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

#define FACTORS 64

// Y^T Y with the regularisation on its diagonal, in tiles of 16 x 16
extern "C" __global__ void als_gram(const float *__restrict__ items, float *__restrict__ gram, int count,
                                    float regularization) {
    __shared__ float left[16][17], right[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < count; first += 16) {
        int i = first + threadIdx.y;
        bool inside = i < count;
        left[threadIdx.y][threadIdx.x] = inside ? items[i * FACTORS + blockIdx.y * 16 + threadIdx.x] : 0.0f;
        right[threadIdx.y][threadIdx.x] = inside ? items[i * FACTORS + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += left[k][threadIdx.y] * right[k][threadIdx.x];
        __syncthreads();
    }
    gram[row * FACTORS + col] = sum + (row == col ? regularization : 0.0f);
}

__device__ float dot(float a, float b, float *scratch) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    float sum = cg::reduce(warp, a * b, cg::plus<float>());
    block.sync();
    if (warp.thread_rank() == 0)
        scratch[warp.meta_group_rank()] = sum;
    block.sync();
    return scratch[0] + scratch[1];
}

extern "C" __global__ void __launch_bounds__(FACTORS)
    als_cg(const int *__restrict__ user_start, const int *__restrict__ item_of, const float *__restrict__ confidence,
           const float *__restrict__ items, const float *__restrict__ gram, float *__restrict__ users, int user_count,
           int steps) {
    __shared__ float p_shared[FACTORS], scratch[FACTORS / 32];
    int f = threadIdx.x;
    for (int u = blockIdx.x; u < user_count; u += gridDim.x) {
        int first = user_start[u], last = user_start[u + 1];
        if (first == last) {
            users[(size_t)u * FACTORS + f] = 0.0f;
            continue;
        }
        float x = users[(size_t)u * FACTORS + f];
        __syncthreads();
        p_shared[f] = x;
        __syncthreads();
        // r = b - A x
        float r = 0.0f;
        for (int g = 0; g < FACTORS; g++)
            r -= p_shared[g] * gram[g * FACTORS + f];
        for (int e = first; e < last; e++) {
            float y = items[(size_t)item_of[e] * FACTORS + f], c = confidence[e];
            r += (c - (c - 1.0f) * dot(y, x, scratch)) * y;
        }
        float p = r, rs_old = dot(r, r, scratch);
        for (int step = 0; step < steps && rs_old > 1e-20f; step++) {
            __syncthreads();
            p_shared[f] = p;
            __syncthreads();
            float ap = 0.0f;
            for (int g = 0; g < FACTORS; g++)
                ap += p_shared[g] * gram[g * FACTORS + f];
            for (int e = first; e < last; e++) {
                float y = items[(size_t)item_of[e] * FACTORS + f];
                ap += (confidence[e] - 1.0f) * dot(y, p, scratch) * y;
            }
            float alpha = rs_old / dot(p, ap, scratch);
            x += alpha * p;
            r -= alpha * ap;
            float rs_new = dot(r, r, scratch);
            p = r + rs_new / rs_old * p;
            rs_old = rs_new;
        }
        users[(size_t)u * FACTORS + f] = x;
    }
}

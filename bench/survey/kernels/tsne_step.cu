// Steps of t-SNE in two dimensions: repulsion of all pairs by tiles in shared memory, attraction along a sparse matrix by
// eight threads a row, momentum with gains as the signs tell, and the points' centre back to zero.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define TILE 128

struct Step {
    float exaggeration, eta, momentum;
};

extern "C" __global__ void tsne_repulse(const float2 *__restrict__ points, float2 *__restrict__ force, double *z, int n) {
    __shared__ float2 tile[TILE];
    __shared__ float sums[TILE / 32];
    const int i = blockIdx.x * TILE + threadIdx.x;
    const float2 own = i < n ? points[i] : make_float2(0.0f, 0.0f);
    float fx = 0.0f, fy = 0.0f, total = 0.0f;
    for (int base = 0; base < n; base += TILE) {
        if (base + threadIdx.x < n)
            tile[threadIdx.x] = points[base + threadIdx.x];
        __syncthreads();
        const int count = min(TILE, n - base);
#pragma unroll 8
        for (int j = 0; j < count; j++) {
            const float dx = own.x - tile[j].x, dy = own.y - tile[j].y;
            const float q = __fdividef(1.0f, 1.0f + dx * dx + dy * dy);
            total += q;
            fx += q * q * dx;
            fy += q * q * dy;
        }
        __syncthreads();
    }
    if (i < n)
        force[i] = make_float2(fx, fy);
    total = i < n ? total - 1.0f : 0.0f;  // less the point with itself
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    total = cg::reduce(warp, total, cg::plus<float>());
    if (warp.thread_rank() == 0)
        sums[warp.meta_group_rank()] = total;
    block.sync();
    if (block.thread_rank() == 0) {
        double all = 0.0;
        for (int k = 0; k < TILE / 32; k++)
            all += sums[k];
        atomicAdd(z, all);
    }
}

__device__ __forceinline__ void momentum_step(float gradient, float &velocity, float &gain, const Step &step) {
    const bool same = (gradient > 0.0f) == (velocity > 0.0f);
    gain = same ? gain * 0.8f : gain + 0.2f;
    gain = fmaxf(gain, 0.01f);
    velocity = step.momentum * velocity - step.eta * gain * gradient;
}

extern "C" __global__ void tsne_update(const float2 *__restrict__ points, float2 *__restrict__ next,
                                       const float2 *__restrict__ force, const double *__restrict__ z,
                                       const int *__restrict__ row_start, const int *__restrict__ columns,
                                       const float *__restrict__ p, float2 *velocity, float2 *gains, int n,
                                       float exaggeration, float eta, float momentum) {
    auto group = cg::tiled_partition<8>(cg::this_thread_block());
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
    if (i >= n)
        return;
    const float2 own = points[i];
    float ax = 0.0f, ay = 0.0f;
    for (int e = row_start[i] + group.thread_rank(); e < row_start[i + 1]; e += group.size()) {
        const float2 other = points[columns[e]];
        const float dx = own.x - other.x, dy = own.y - other.y;
        const float pq = p[e] / (1.0f + dx * dx + dy * dy);
        ax += pq * dx;
        ay += pq * dy;
    }
    for (int d = group.size() / 2; d > 0; d /= 2) {
        ax += group.shfl_down(ax, d);
        ay += group.shfl_down(ay, d);
    }
    if (group.thread_rank() == 0) {
        const Step step = {exaggeration, eta, momentum};
        const float norm = (float)(1.0 / *z);
        float2 v = velocity[i], g = gains[i], f = force[i];
        momentum_step(4.0f * (exaggeration * ax - norm * f.x), v.x, g.x, step);
        momentum_step(4.0f * (exaggeration * ay - norm * f.y), v.y, g.y, step);
        velocity[i] = v;
        gains[i] = g;
        next[i] = make_float2(own.x + v.x, own.y + v.y);
    }
}

extern "C" __global__ void tsne_centre(float2 *points, int n) {
    __shared__ float2 sums[512];
    float2 sum = make_float2(0.0f, 0.0f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum.x += points[i].x;
        sum.y += points[i].y;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) {
            sums[threadIdx.x].x += sums[threadIdx.x + s].x;
            sums[threadIdx.x].y += sums[threadIdx.x + s].y;
        }
        __syncthreads();
    }
    const float2 mean = make_float2(sums[0].x / n, sums[0].y / n);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        points[i].x -= mean.x;
        points[i].y -= mean.y;
    }
}

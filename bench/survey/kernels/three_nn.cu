// Feature propagation of a network on point clouds: the three nearest known points of each point, weights by inverse
// distances, features between them, and the gradient by atomics.
#include <math.h>

#define THREADS_PER_BLOCK 256

extern "C" __global__ void three_nn(int b, int n, int m, const float *__restrict__ unknown,
                                    const float *__restrict__ known, float *__restrict__ dist2, int *__restrict__ idx) {
    int bs_idx = blockIdx.y;
    int pt_idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (bs_idx >= b || pt_idx >= n)
        return;
    unknown += bs_idx * n * 3 + pt_idx * 3;
    known += bs_idx * m * 3;
    dist2 += bs_idx * n * 3 + pt_idx * 3;
    idx += bs_idx * n * 3 + pt_idx * 3;

    float ux = unknown[0], uy = unknown[1], uz = unknown[2];
    double best1 = 1e40, best2 = 1e40, best3 = 1e40;
    int besti1 = 0, besti2 = 0, besti3 = 0;
    for (int k = 0; k < m; ++k) {
        float x = known[k * 3 + 0], y = known[k * 3 + 1], z = known[k * 3 + 2];
        float d = (ux - x) * (ux - x) + (uy - y) * (uy - y) + (uz - z) * (uz - z);
        if (d < best1) {
            best3 = best2;
            besti3 = besti2;
            best2 = best1;
            besti2 = besti1;
            best1 = d;
            besti1 = k;
        } else if (d < best2) {
            best3 = best2;
            besti3 = besti2;
            best2 = d;
            besti2 = k;
        } else if (d < best3) {
            best3 = d;
            besti3 = k;
        }
    }
    dist2[0] = best1;
    dist2[1] = best2;
    dist2[2] = best3;
    idx[0] = besti1;
    idx[1] = besti2;
    idx[2] = besti3;
}

extern "C" __global__ void three_weights(int count, const float *__restrict__ dist2, float *__restrict__ weight) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float r[3], norm = 0.0f;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        r[k] = 1.0f / (sqrtf(dist2[3 * i + k]) + 1e-8f);
        norm += r[k];
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
        weight[3 * i + k] = r[k] / norm;
}

extern "C" __global__ void three_interpolate(int b, int c, int m, int n, const float *__restrict__ points,
                                             const int *__restrict__ idx, const float *__restrict__ weight,
                                             float *__restrict__ out) {
    int bs_idx = blockIdx.z, c_idx = blockIdx.y;
    int pt_idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (bs_idx >= b || c_idx >= c || pt_idx >= n)
        return;
    weight += bs_idx * n * 3 + pt_idx * 3;
    points += bs_idx * c * m + c_idx * m;
    idx += bs_idx * n * 3 + pt_idx * 3;
    out += bs_idx * c * n + c_idx * n;
    out[pt_idx] = weight[0] * points[idx[0]] + weight[1] * points[idx[1]] + weight[2] * points[idx[2]];
}

extern "C" __global__ void three_interpolate_grad(int b, int c, int n, int m, const float *__restrict__ grad_out,
                                                  const int *__restrict__ idx, const float *__restrict__ weight,
                                                  float *grad_points) {
    int bs_idx = blockIdx.z, c_idx = blockIdx.y;
    int pt_idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (bs_idx >= b || c_idx >= c || pt_idx >= n)
        return;
    grad_out += bs_idx * c * n + c_idx * n + pt_idx;
    weight += bs_idx * n * 3 + pt_idx * 3;
    grad_points += bs_idx * c * m + c_idx * m;
    idx += bs_idx * n * 3 + pt_idx * 3;
    atomicAdd(grad_points + idx[0], grad_out[0] * weight[0]);
    atomicAdd(grad_points + idx[1], grad_out[0] * weight[1]);
    atomicAdd(grad_points + idx[2], grad_out[0] * weight[2]);
}

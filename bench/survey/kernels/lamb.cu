// LAMB for a list of tensors in one go: they are cut into chunks, a CTA each; the gradients' norm first, then moments
// and updates with the norms of each tensor, then steps by the ratios of these norms.
#include <cuda_fp16.h>

#define THREADS 256
#define CHUNK 4096

struct Tensor {
    long long offset;
    int size;
    int first_chunk, chunks;
    float weight_decay;
    bool adapt;
};

struct Chunk {
    int tensor, index;
};

template <typename T>
__device__ T warp_sum(T v) {
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

// Right in thread 0.
template <int THREADS_>
__device__ float block_sum(float v) {
    __shared__ float part[THREADS_ / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warp_sum(v);
    __syncthreads();
    if (lane == 0)
        part[warp] = v;
    __syncthreads();
    v = threadIdx.x < THREADS_ / 32 ? part[lane] : 0.0f;
    if (warp == 0)
        v = warp_sum(v);
    return v;
}

extern "C" __global__ void grad_norm(const __half *__restrict__ grads, const Tensor *__restrict__ tensors,
                                     const Chunk *__restrict__ chunks, float *__restrict__ partial) {
    const Chunk chunk = chunks[blockIdx.x];
    const Tensor tensor = tensors[chunk.tensor];
    const int start = chunk.index * CHUNK, end = min(start + CHUNK, tensor.size);
    const __half *g = grads + tensor.offset;
    float sum = 0.0f;
    for (int i = start + threadIdx.x; i < end; i += blockDim.x) {
        float v = __half2float(g[i]);
        sum += v * v;
    }
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

extern "C" __global__ void finish_norm(const float *__restrict__ partial, int count, float *__restrict__ norm,
                                       float loss_scale) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        sum += partial[i];
    sum = block_sum<512>(sum);
    if (threadIdx.x == 0)
        *norm = sqrtf(sum) / loss_scale;
}

extern "C" __global__ void lamb_update(const __half *__restrict__ grads, const float *__restrict__ params,
                                       float *__restrict__ m, float *__restrict__ v, float *__restrict__ update,
                                       const Tensor *__restrict__ tensors, const Chunk *__restrict__ chunks,
                                       const float *__restrict__ global_norm, float2 *__restrict__ norms,
                                       float loss_scale, float max_norm, float beta1, float beta2, float epsilon,
                                       float correction1, float correction2) {
    const Chunk chunk = chunks[blockIdx.x];
    const Tensor tensor = tensors[chunk.tensor];
    const int start = chunk.index * CHUNK, end = min(start + CHUNK, tensor.size);
    const float clip = *global_norm > max_norm ? *global_norm / max_norm : 1.0f;
    const float factor = 1.0f / (loss_scale * clip);
    float p_sum = 0.0f, u_sum = 0.0f;
    for (int i = start + threadIdx.x; i < end; i += blockDim.x) {
        const long long at = tensor.offset + i;
        const float g = __half2float(grads[at]) * factor, p = params[at];
        const float m1 = beta1 * m[at] + (1.0f - beta1) * g;
        const float v1 = beta2 * v[at] + (1.0f - beta2) * g * g;
        m[at] = m1;
        v[at] = v1;
        const float u = (m1 / correction1) / (sqrtf(v1 / correction2) + epsilon) + tensor.weight_decay * p;
        update[at] = u;
        p_sum += p * p;
        u_sum += u * u;
    }
    p_sum = block_sum<THREADS>(p_sum);
    u_sum = block_sum<THREADS>(u_sum);
    if (threadIdx.x == 0)
        norms[blockIdx.x] = make_float2(p_sum, u_sum);
}

extern "C" __global__ void lamb_apply(float *__restrict__ params, __half *__restrict__ params_half,
                                      const float *__restrict__ update, const Tensor *__restrict__ tensors,
                                      const Chunk *__restrict__ chunks, const float2 *__restrict__ norms,
                                      float rate) {
    __shared__ float ratio;
    const Chunk chunk = chunks[blockIdx.x];
    const Tensor tensor = tensors[chunk.tensor];
    if (threadIdx.x < 32) {
        float p = 0.0f, u = 0.0f;
        for (int c = threadIdx.x; c < tensor.chunks; c += 32) {
            const float2 n = norms[tensor.first_chunk + c];
            p += n.x;
            u += n.y;
        }
        p = warp_sum(p);
        u = warp_sum(u);
        if (threadIdx.x == 0)
            ratio = tensor.adapt && p > 0.0f && u > 0.0f ? sqrtf(p) / sqrtf(u) : 1.0f;
    }
    __syncthreads();
    const float step = rate * ratio;
    const int start = chunk.index * CHUNK, end = min(start + CHUNK, tensor.size);
    for (int i = start + threadIdx.x; i < end; i += blockDim.x) {
        const long long at = tensor.offset + i;
        const float p = params[at] - step * update[at];
        params[at] = p;
        params_half[at] = __float2half_rn(p);
    }
}

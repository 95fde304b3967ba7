// Many tensors at once: a table in the parameters tells a block its tensor and its part of it. The norm of all
// gradients by blocks, then Adagrad on gradients that are clipped by this norm; four elements at a time where they
// are aligned.
constexpr int MAX_TENSORS = 36, MAX_BLOCKS = 320, BLOCK = 512, ILP = 4;

struct TensorListMetadata {
    long long start[MAX_TENSORS];
    long long sizes[MAX_TENSORS];
    unsigned char block_to_tensor[MAX_BLOCKS];
    int block_to_chunk[MAX_BLOCKS];
    int first_block;
};

template <typename T> __device__ __forceinline__ bool is_aligned(T *p) {
    return ((unsigned long long)p) % (ILP * sizeof(T)) == 0;
}

template <typename T>
__device__ __forceinline__ void load_store(T *dst, const T *src, long long dst_offset, long long src_offset) {
    struct alignas(sizeof(T) * ILP) LT {
        T v[ILP];
    };
    ((LT *)dst)[dst_offset] = ((const LT *)src)[src_offset];
}

template <typename T> __device__ __forceinline__ T reduce_block_into_lanes(T *x, T val) {
    int tid = threadIdx.x;
    x[tid] = val;
    __syncthreads();
#pragma unroll
    for (int i = BLOCK >> 1; i >= 64; i >>= 1) {
        if (tid < i)
            x[tid] = x[tid] + x[tid + i];
        __syncthreads();
    }
    T final = 0;
    if (tid < 32) {
        final = x[tid] + x[tid + 32];
#pragma unroll
        for (int i = 16; i >= 1; i >>= 1)
            final = final + __shfl_down_sync(0xffffffff, final, i);
    }
    return final;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    mt_norm(const float *grads, TensorListMetadata tl, int chunk_size, float *partial) {
    int tensor = tl.block_to_tensor[blockIdx.x], chunk = tl.block_to_chunk[blockIdx.x];
    long long n = tl.sizes[tensor] - (long long)chunk * chunk_size;
    const float *x = grads + tl.start[tensor] + (long long)chunk * chunk_size;
    __shared__ float s_vals[BLOCK];
    float vals[ILP], r_x[ILP];
#pragma unroll
    for (int i = 0; i < ILP; i++)
        vals[i] = 0.f;
    if (n % ILP == 0 && chunk_size % ILP == 0 && is_aligned(x)) {
        for (int i = threadIdx.x; i * ILP < n && i * ILP < chunk_size; i += blockDim.x) {
            load_store(r_x, x, 0, i);
#pragma unroll
            for (int ii = 0; ii < ILP; ii++)
                vals[ii] += r_x[ii] * r_x[ii];
        }
    } else {
        for (int first = 0; first < n && first < chunk_size; first += blockDim.x * ILP) {
#pragma unroll
            for (int ii = 0; ii < ILP; ii++) {
                int i = first + threadIdx.x + ii * blockDim.x;
                if (i < n && i < chunk_size)
                    vals[ii] += x[i] * x[i];
            }
        }
    }
    float val = 0.f;
    for (int i = 0; i < ILP; i++)
        val += vals[i];
    float final = reduce_block_into_lanes(s_vals, val);
    if (threadIdx.x == 0)
        partial[tl.first_block + blockIdx.x] = final;
}

extern "C" __global__ void __launch_bounds__(BLOCK) mt_norm_final(const float *partial, float *norm, int n) {
    __shared__ float vals[BLOCK];
    float val = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        val += partial[i];
    float final = reduce_block_into_lanes(vals, val);
    if (threadIdx.x == 0)
        *norm = sqrtf(final);
}

enum adagradMode_t { ADAGRAD_MODE_0 = 0, ADAGRAD_MODE_1 = 1 };  // L2 regularisation, or decoupled decay

extern "C" __global__ void __launch_bounds__(BLOCK)
    mt_adagrad(const float *grads, float *params, float *state, TensorListMetadata tl, int chunk_size,
               const float *norm, float max_norm, float lr, float eps, float weight_decay, adagradMode_t mode) {
    int tensor = tl.block_to_tensor[blockIdx.x], chunk = tl.block_to_chunk[blockIdx.x];
    long long n = tl.sizes[tensor] - (long long)chunk * chunk_size;
    long long at = tl.start[tensor] + (long long)chunk * chunk_size;
    const float *g = grads + at;
    float *p = params + at, *h = state + at;
    float clip = fminf(1.0f, max_norm / (*norm + 1e-6f));
    for (int first = 0; first < n && first < chunk_size; first += blockDim.x * ILP) {
        float r_g[ILP], r_p[ILP], r_h[ILP];
#pragma unroll
        for (int ii = 0; ii < ILP; ii++) {
            int i = first + threadIdx.x + ii * blockDim.x;
            if (i < n && i < chunk_size) {
                r_g[ii] = g[i] * clip;
                r_p[ii] = p[i];
                r_h[ii] = h[i];
            } else {
                r_g[ii] = r_p[ii] = r_h[ii] = 0.f;
            }
        }
#pragma unroll
        for (int ii = 0; ii < ILP; ii++) {
            if (mode == ADAGRAD_MODE_0) {
                r_g[ii] = r_g[ii] + weight_decay * r_p[ii];
                r_h[ii] = r_h[ii] + r_g[ii] * r_g[ii];
                r_p[ii] = r_p[ii] - lr * (r_g[ii] / (sqrtf(r_h[ii]) + eps));
            } else {
                r_h[ii] = r_h[ii] + r_g[ii] * r_g[ii];
                r_p[ii] = r_p[ii] - lr * (r_g[ii] / (sqrtf(r_h[ii]) + eps) + weight_decay * r_p[ii]);
            }
        }
#pragma unroll
        for (int ii = 0; ii < ILP; ii++) {
            int i = first + threadIdx.x + ii * blockDim.x;
            if (i < n && i < chunk_size) {
                p[i] = r_p[ii];
                h[i] = r_h[ii];
            }
        }
    }
}

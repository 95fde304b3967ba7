// Margin losses over classes, a block a row: one right class with powers 1 and 2 (forwards and backwards, sums by one
// thread), and lists of right classes that end with -1 (sums by warps).
#define MULTIMARGIN_THREADS 128

template <int P>
__device__ void multi_margin_forward(float *output, const float *input, const long long *target, const float *weights,
                                     int nframe, int dim, bool size_average, float margin) {
    __shared__ float buffer[MULTIMARGIN_THREADS];
    int k = blockIdx.x;
    const float *input_k = input + (long long)k * dim;
    int target_k = static_cast<int>(target[k]);
    float input_target_k = input_k[target_k];

    int i_start = threadIdx.x, i_end = dim, i_step = blockDim.x;
    buffer[threadIdx.x] = 0.0f;
    for (int i = i_start; i < i_end; i += i_step) {
        float z = margin - input_target_k + input_k[i];
        if (i == target_k)
            continue;
        if (z > 0) {
            float h = (P == 1) ? z : z * z;
            if (weights)
                h *= weights[target_k];
            buffer[threadIdx.x] += h;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < blockDim.x; i++)
            sum += buffer[i];
        const int denom = size_average ? nframe * dim : dim;
        output[k] = sum / denom;
    }
}

template <int P>
__device__ void multi_margin_backward(float *gradInput, const float *gradOutput, const float *input,
                                      const long long *target, const float *weights, int dim, float margin) {
    __shared__ float buffer[MULTIMARGIN_THREADS];
    int k = blockIdx.x;
    const float *input_k = input + (long long)k * dim;
    float *gradInput_k = gradInput + (long long)k * dim;
    int target_k = static_cast<int>(target[k]);
    float input_target_k = input_k[target_k];
    const float g = 1.0f / dim;

    int i_start = threadIdx.x, i_end = dim, i_step = blockDim.x;
    buffer[threadIdx.x] = 0;
    for (int i = i_start; i < i_end; i += i_step) {
        float z = margin - input_target_k + input_k[i];
        if (i == target_k)
            continue;
        if (z > 0) {
            float h = (P == 1) ? g : 2 * g * z;
            if (weights)
                h *= weights[target_k];
            buffer[threadIdx.x] -= h;
            gradInput_k[i] = h;
        } else
            gradInput_k[i] = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < blockDim.x; i++)
            sum += buffer[i];
        gradInput_k[target_k] = sum;
    }
    __syncthreads();
    for (int i = i_start; i < i_end; i += i_step)
        gradInput_k[i] *= gradOutput[k];
}

extern "C" __global__ void margin_p1(float *output, const float *input, const long long *target, const float *weights,
                                     int nframe, int dim, float margin) {
    multi_margin_forward<1>(output, input, target, weights, nframe, dim, false, margin);
}

extern "C" __global__ void margin_p2(float *output, const float *input, const long long *target, int nframe, int dim,
                                     float margin) {
    multi_margin_forward<2>(output, input, target, nullptr, nframe, dim, true, margin);
}

extern "C" __global__ void margin_p2_back(float *gradInput, const float *gradOutput, const float *input,
                                          const long long *target, const float *weights, int dim, float margin) {
    multi_margin_backward<2>(gradInput, gradOutput, input, target, weights, dim, margin);
}

template <typename T>
__device__ __forceinline__ T WarpReduceSum(T val) {
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        val += __shfl_down_sync(0xffffffff, val, offset);
    return val;
}

template <typename T>
__device__ __forceinline__ T BlockReduceSum(T val, T *shared) {
    const int lid = threadIdx.x % 32, wid = threadIdx.x / 32;
    val = WarpReduceSum(val);
    __syncthreads();
    if (lid == 0)
        shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / 32) ? shared[lid] : T(0);
    if (wid == 0)
        val = WarpReduceSum(val);
    return val;
}

extern "C" __global__ void multilabel_margin(float *output, float *grad_input, const float *input,
                                             const long long *target, float *is_target, int dim) {
    __shared__ float shared[32];
    int k = blockIdx.x;
    const float *input_k = input + (long long)k * dim;
    const long long *target_k = target + (long long)k * dim;
    float *is_target_k = is_target + (long long)k * dim;
    float *grad_k = grad_input + (long long)k * dim;
    const float g = 1.0f / dim;

    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        is_target_k[d] = 0.0f;
        grad_k[d] = 0.0f;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int dt = 0; dt < dim; dt++) {
            int target_idx = target_k[dt];
            if (target_idx < 0)
                break;
            is_target_k[target_idx] = 1.0f;
        }
    }
    __syncthreads();

    float sum = 0;
    for (int dt = 0; dt < dim; dt++) {
        int target_idx = target_k[dt];
        if (target_idx < 0)
            break;
        float input_target = input_k[target_idx];
        float violations = 0;
        for (int d = threadIdx.x; d < dim; d += blockDim.x) {
            if (!static_cast<bool>(is_target_k[d])) {
                float z = 1 - input_target + input_k[d];
                if (z > 0) {
                    sum += z;
                    violations -= g;
                    grad_k[d] += g;
                }
            }
        }
        float total = BlockReduceSum(violations, shared);
        if (threadIdx.x == 0)
            grad_k[target_idx] += total;
    }
    float total = BlockReduceSum(sum, shared);
    if (threadIdx.x == 0)
        output[k] = total / dim;
}

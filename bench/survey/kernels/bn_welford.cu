// Batch normalisation in training: statistics by Welford with merges over warps, the forward transform, and the
// backward pass with its two sums in one. A block has a channel; tensors come as a pointer with sizes and strides.
struct Layout3 {
    int size[3];
    int stride[3];
};

template <typename T> struct Accessor3 {
    T *data;
    const Layout3 &layout;
    __device__ Accessor3(T *d, const Layout3 &l) : data(d), layout(l) {}
    __device__ __forceinline__ T &at(int n, int c, int x) const {
        return data[n * layout.stride[0] + c * layout.stride[1] + x * layout.stride[2]];
    }
};

template <typename acc_t> struct Float2 {
    acc_t v1, v2;
    __device__ Float2() {}
    __device__ Float2(acc_t a, acc_t b) : v1(a), v2(b) {}
    __device__ Float2 &operator+=(const Float2 &o) {
        v1 += o.v1;
        v2 += o.v2;
        return *this;
    }
};

constexpr int WARP = 32;

__device__ __forceinline__ int msb(int v) { return 31 - __clz(v); }

template <typename acc_t> __device__ Float2<acc_t> warp_sum(Float2<acc_t> v) {
#pragma unroll
    for (int i = 0; i < msb(WARP); i++) {
        v.v1 += __shfl_xor_sync(0xffffffff, v.v1, 1 << i);
        v.v2 += __shfl_xor_sync(0xffffffff, v.v2, 1 << i);
    }
    return v;
}

template <typename acc_t, typename Op, typename A>
__device__ Float2<acc_t> reduce(const Op &op, const A &tensor, int plane) {
    Float2<acc_t> sum(0, 0);
    for (int n = threadIdx.y; n < tensor.layout.size[0]; n += blockDim.y)
        for (int x = threadIdx.x; x < tensor.layout.size[2]; x += blockDim.x)
            sum += op(n, plane, x);
    sum = warp_sum(sum);
    __shared__ Float2<acc_t> shared[WARP];
    int tid = threadIdx.x + threadIdx.y * blockDim.x;
    if (tid < WARP)
        shared[tid] = Float2<acc_t>(0, 0);
    __syncthreads();
    if (tid % WARP == 0)
        shared[tid / WARP] = sum;
    __syncthreads();
    if (tid < WARP) {
        sum = warp_sum(shared[tid]);
        if (tid == 0)
            shared[0] = sum;
    }
    __syncthreads();
    return shared[0];
}

template <typename scalar_t, typename acc_t, typename A> struct GradOp {
    acc_t mean;
    A input, grad;
    __device__ GradOp(acc_t m, const A &i, const A &g) : mean(m), input(i), grad(g) {}
    __device__ __forceinline__ Float2<acc_t> operator()(int n, int c, int x) const {
        acc_t g = grad.at(n, c, x);
        return Float2<acc_t>(g, g * (static_cast<acc_t>(input.at(n, c, x)) - mean));
    }
};

template <typename scalar_t, typename acc_t>
__device__ void collect(const Accessor3<scalar_t> &input, acc_t eps, acc_t momentum, acc_t *save_mean,
                        acc_t *save_invstd, acc_t *running_mean, acc_t *running_var) {
    __shared__ acc_t shared_avg[WARP], shared_var[WARP];
    __shared__ int shared_n[WARP];
    int plane = blockIdx.x;
    int count = input.layout.size[0] * input.layout.size[2];
    int tid = threadIdx.x + threadIdx.y * blockDim.x;
    acc_t avg = 0, var_n = 0;
    int n = 0;
    for (int batch = threadIdx.y; batch < input.layout.size[0]; batch += blockDim.y) {
        for (int x = threadIdx.x; x < input.layout.size[2]; x += blockDim.x) {
            acc_t v = input.at(batch, plane, x);
            acc_t d1 = v - avg;
            n++;
            avg += d1 / n;
            var_n += d1 * (v - avg);
        }
    }
    auto merge = [&]() {
#pragma unroll
        for (int i = 0; i < msb(WARP); i++) {
            acc_t o_avg = __shfl_xor_sync(0xffffffff, avg, 1 << i);
            int o_n = __shfl_xor_sync(0xffffffff, n, 1 << i);
            acc_t factor = acc_t(1) / fmaxf(1.0f, n + o_n);
            var_n += __shfl_xor_sync(0xffffffff, var_n, 1 << i) + (avg - o_avg) * (avg - o_avg) * n * o_n * factor;
            avg = (n * avg + o_n * o_avg) * factor;
            n += o_n;
        }
    };
    merge();
    if (tid % WARP == 0) {
        shared_n[tid / WARP] = n;
        shared_avg[tid / WARP] = avg;
        shared_var[tid / WARP] = var_n;
    }
    __syncthreads();
    if (tid < WARP) {
        int warps = blockDim.x * blockDim.y / WARP;
        n = tid < warps ? shared_n[tid] : 0;
        avg = tid < warps ? shared_avg[tid] : acc_t(0);
        var_n = tid < warps ? shared_var[tid] : acc_t(0);
        merge();
    }
    if (tid == 0) {
        save_mean[plane] = avg;
        save_invstd[plane] = rsqrtf(var_n / count + eps);
        if (running_mean)
            running_mean[plane] = (1 - momentum) * running_mean[plane] + momentum * avg;
        if (running_var)
            running_var[plane] = (1 - momentum) * running_var[plane] + momentum * (var_n / (count - 1));
    }
}

extern "C" __global__ void __launch_bounds__(512)
    bn_collect(float *input, const Layout3 layout, float eps, float momentum, float *save_mean, float *save_invstd,
               float *running_mean, float *running_var) {
    collect<float, float>(Accessor3<float>(input, layout), eps, momentum, save_mean, save_invstd, running_mean,
                          running_var);
}

extern "C" __global__ void bn_transform(float *input, float *output, const Layout3 layout, const float *mean_,
                                        const float *invstd_, const float *weight, const float *bias) {
    Accessor3<float> in(input, layout), out(output, layout);
    int plane = blockIdx.x;
    if (plane >= layout.size[1])
        return;
    float gamma = weight ? weight[plane] : 1.0f, beta = bias ? bias[plane] : 0.0f;
    float mean = mean_[plane], invstd = invstd_[plane];
    int bs = layout.size[0], fs = layout.size[2];
    for (int batch = threadIdx.y + blockIdx.y * blockDim.y; batch < bs; batch += gridDim.y * blockDim.y)
        for (int x = threadIdx.x; x < fs; x += blockDim.x)
            out.at(batch, plane, x) = gamma * (in.at(batch, plane, x) - mean) * invstd + beta;
}

extern "C" __global__ void bn_backward(float *input, float *grad_output, float *grad_input, const Layout3 layout,
                                       const float *save_mean, const float *save_invstd, const float *weight,
                                       float *grad_weight, float *grad_bias) {
    Accessor3<float> in(input, layout), go(grad_output, layout), gi(grad_input, layout);
    int plane = blockIdx.x;
    int count = layout.size[0] * layout.size[2];
    float mean = save_mean[plane], invstd = save_invstd[plane];
    float w = weight ? weight[plane] : 1.0f;
    float norm = 1.0f / count;
    GradOp<float, float, Accessor3<float>> op(mean, in, go);
    Float2<float> res = reduce<float>(op, go, plane);
    float grad_sum = res.v1, dot_p = res.v2;
    float grad_mean = grad_sum * norm, proj = dot_p * norm * invstd * invstd, scale = invstd * w;
    for (int batch = threadIdx.y; batch < layout.size[0]; batch += blockDim.y) {
        for (int x = threadIdx.x; x < layout.size[2]; x += blockDim.x) {
            float g = go.at(batch, plane, x);
            float p = (in.at(batch, plane, x) - mean) * proj;
            gi.at(batch, plane, x) = (g - p - grad_mean) * scale;
        }
    }
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        grad_weight[plane] = dot_p * invstd;
        grad_bias[plane] = grad_sum;
    }
}

// Causal convolution of width 4 along sequences, each channel by itself, in half precision with SiLU: eight values a
// thread by loads of 16 bytes, what came before from the neighbour through shared memory. Then one more token by a
// state that shifts.
#include <cuda_fp16.h>

template <int kNThreads_, int kWidth_>
struct Causal_conv1d_traits {
    static constexpr int kNThreads = kNThreads_;
    static constexpr int kWidth = kWidth_;
    static constexpr int kNElts = 8;
    static constexpr int kChunkSize = kNThreads * kNElts;
};

struct ConvParams {
    int batch, dim, seqlen, silu;
    int x_batch_stride, x_c_stride, out_batch_stride, out_c_stride;
};

template <typename Traits>
__device__ void causal_conv1d_fwd(const ConvParams &params, const __half *x_ptr, const float *weight_ptr,
                                  const float *bias_ptr, __half *out_ptr) {
    constexpr int kWidth = Traits::kWidth, kNThreads = Traits::kNThreads, kNElts = Traits::kNElts;
    __shared__ uint4 smem_exchange[kNThreads];
    const int tidx = threadIdx.x, batch_id = blockIdx.x, channel_id = blockIdx.y;
    const __half *x = x_ptr + batch_id * params.x_batch_stride + channel_id * params.x_c_stride;
    const float *weight = weight_ptr + channel_id * kWidth;
    __half *out = out_ptr + batch_id * params.out_batch_stride + channel_id * params.out_c_stride;
    float bias_val = bias_ptr == nullptr ? 0.f : bias_ptr[channel_id];

    if (tidx == 0)
        smem_exchange[kNThreads - 1] = make_uint4(0, 0, 0, 0);
    float weight_vals[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
        weight_vals[i] = weight[i];

    const int n_chunks = (params.seqlen + Traits::kChunkSize - 1) / Traits::kChunkSize;
    for (int chunk = 0; chunk < n_chunks; ++chunk) {
        __half x_vals_load[2 * kNElts] = {};
        int left = params.seqlen - chunk * Traits::kChunkSize;
        if ((tidx + 1) * kNElts <= left)
            reinterpret_cast<uint4 *>(x_vals_load)[1] = reinterpret_cast<const uint4 *>(x)[tidx];
        else
            for (int i = 0; i < kNElts; ++i)
                if (tidx * kNElts + i < left)
                    x_vals_load[kNElts + i] = x[tidx * kNElts + i];
        x += Traits::kChunkSize;
        __syncthreads();
        // The last thread has not written yet, so that the first can read the end of the chunk before.
        if (tidx < kNThreads - 1)
            smem_exchange[tidx] = reinterpret_cast<uint4 *>(x_vals_load)[1];
        __syncthreads();
        reinterpret_cast<uint4 *>(x_vals_load)[0] = smem_exchange[tidx > 0 ? tidx - 1 : kNThreads - 1];
        __syncthreads();
        if (tidx == kNThreads - 1)
            smem_exchange[tidx] = reinterpret_cast<uint4 *>(x_vals_load)[1];

        float x_vals[2 * kNElts];
#pragma unroll
        for (int i = 0; i < 2 * kNElts; ++i)
            x_vals[i] = __half2float(x_vals_load[i]);
        float out_vals[kNElts];
#pragma unroll
        for (int i = 0; i < kNElts; ++i) {
            out_vals[i] = bias_val;
#pragma unroll
            for (int w = 0; w < kWidth; ++w)
                out_vals[i] += weight_vals[w] * x_vals[kNElts + i - (kWidth - w - 1)];
        }
        if (params.silu)
#pragma unroll
            for (int i = 0; i < kNElts; ++i)
                out_vals[i] = out_vals[i] / (1 + expf(-out_vals[i]));
        __half out_vals_store[kNElts];
#pragma unroll
        for (int i = 0; i < kNElts; ++i)
            out_vals_store[i] = __float2half(out_vals[i]);
        if ((tidx + 1) * kNElts <= left)
            reinterpret_cast<uint4 *>(out)[tidx] = *reinterpret_cast<uint4 *>(out_vals_store);
        else
            for (int i = 0; i < kNElts; ++i)
                if (tidx * kNElts + i < left)
                    out[tidx * kNElts + i] = out_vals_store[i];
        out += Traits::kChunkSize;
    }
}

extern "C" __global__ __launch_bounds__(128) void causal_fwd(ConvParams params, const __half *x, const float *weight,
                                                             const float *bias, __half *out) {
    causal_conv1d_fwd<Causal_conv1d_traits<128, 4>>(params, x, weight, bias, out);
}

extern "C" __global__ __launch_bounds__(64) void causal_update(ConvParams params, const __half *x, __half *conv_state,
                                                               const float *weight, const float *bias, __half *out) {
    constexpr int kWidth = 4;
    const int batch_id = blockIdx.x, channel_id = blockIdx.y * blockDim.x + threadIdx.x;
    if (channel_id >= params.dim)
        return;
    __half *state = conv_state + (batch_id * params.dim + channel_id) * (kWidth - 1);
    float x_vals[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth - 1; ++i)
        x_vals[i] = __half2float(state[i]);
    __half now = x[batch_id * params.dim + channel_id];
    x_vals[kWidth - 1] = __half2float(now);
#pragma unroll
    for (int i = 0; i < kWidth - 2; ++i)
        state[i] = state[i + 1];
    state[kWidth - 2] = now;
    float out_val = bias[channel_id];
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
        out_val += weight[channel_id * kWidth + i] * x_vals[i];
    if (params.silu)
        out_val = out_val / (1 + expf(-out_val));
    out[batch_id * params.dim + channel_id] = __float2half(out_val);
}

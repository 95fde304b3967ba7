// Ring attention: what each rank found for its part of the keys (outputs and logs of sums of exponentials) goes into
// the running result, a launch a step of the ring. A causal step touches only the rows behind.
#include <cstdint>

__device__ __forceinline__ float log_sigmoid(float v) {
    return v < 0.0f ? v - log1pf(expf(v)) : -log1pf(expf(-v));
}

// out: [heads][rows][dim], lse: [heads][rows]. A row a thread group of dim / 4 threads.
extern "C" __global__ void ring_merge(float4 *__restrict__ out, const float *__restrict__ lse_in,
                                      float *__restrict__ lse_out, const float4 *__restrict__ block_out,
                                      const float *__restrict__ block_lse, int rows, int heads, int dim4,
                                      int first_row) {
    int64_t total = (int64_t)heads * rows * dim4;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < total; i += (int64_t)gridDim.x * blockDim.x) {
        int64_t row = i / dim4;
        float old = lse_in[row];
        if (row % rows < first_row) {
            if (i % dim4 == 0)
                lse_out[row] = old;
            continue;
        }
        float fresh = block_lse[row];
        float4 o = out[i], b = block_out[i];
        float w = 1.0f / (1.0f + expf(old - fresh));
        o.x -= w * (o.x - b.x);
        o.y -= w * (o.y - b.y);
        o.z -= w * (o.z - b.z);
        o.w -= w * (o.w - b.w);
        out[i] = o;
        if (i % dim4 == 0)
            lse_out[row] = old - log_sigmoid(old - fresh);
    }
}

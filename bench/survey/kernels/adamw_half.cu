#include <cuda_fp16.h>

// A step of Adam with weights that decay: gradients and weights of 16 bits, and the weights in 32 bits besides.
extern "C" __global__ void adamw_half(__half *param, const __half *grad, float *master, float *m, float *v, long long n,
                                      float lr, float beta1, float beta2, float eps, float decay, float unscale,
                                      float correct1, float correct2) {
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        float g = __half2float(grad[i]) * unscale;
        if (isinf(g) || isnan(g))
            continue;
        float w = master[i];
        m[i] = beta1 * m[i] + (1.0f - beta1) * g;
        v[i] = beta2 * v[i] + (1.0f - beta2) * g * g;
        float step = (m[i] / correct1) / (sqrtf(v[i] / correct2) + eps);
        w -= lr * (step + decay * w);
        master[i] = w;
        param[i] = __float2half(w);
    }
}

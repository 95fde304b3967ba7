// LAMB, tensor by tensor: moments, updates and norms in one pass, steps in another.
#include "native.h"
#include <immintrin.h>

typedef struct {
    long long offset;
    int size, first_chunk, chunks;
    float weight_decay;
    uchar adapt;
} Tensor;

void run(const _Float16 *restrict grads, float *restrict params, float *restrict m, float *restrict v,
         float *restrict update, _Float16 *restrict half, const Tensor *restrict tensors, float loss_scale,
         float max_norm, float beta1, float beta2, float epsilon, float correction1, float correction2, float rate,
         int count) {
    float total = 0;
    for (int t = 0; t < count; t++) {
        const _Float16 *g = grads + tensors[t].offset;
#pragma omp simd reduction(+ : total)
        for (int i = 0; i < tensors[t].size; i++)
            total += (float)g[i] * (float)g[i];
    }
    float norm = sqrtf(total) / loss_scale, factor = 1 / (loss_scale * (norm > max_norm ? norm / max_norm : 1));
    for (int t = 0; t < count; t++) {
        Tensor tensor = tensors[t];
        const _Float16 *restrict g = grads + tensor.offset;
        float *restrict p = params + tensor.offset, *restrict m_ = m + tensor.offset;
        float *restrict v_ = v + tensor.offset, *restrict u = update + tensor.offset;
        _Float16 *restrict h = half + tensor.offset;
        float p_sum = 0, u_sum = 0;
#pragma omp simd reduction(+ : p_sum, u_sum)
        for (int i = 0; i < tensor.size; i++) {
            float gradient = (float)g[i] * factor;
            float m1 = beta1 * m_[i] + (1 - beta1) * gradient, v1 = beta2 * v_[i] + (1 - beta2) * gradient * gradient;
            m_[i] = m1;
            v_[i] = v1;
            u[i] = (m1 / correction1) / (sqrtf(v1 / correction2) + epsilon) + tensor.weight_decay * p[i];
            p_sum += p[i] * p[i];
            u_sum += u[i] * u[i];
        }
        float step = rate * (tensor.adapt && p_sum > 0 && u_sum > 0 ? sqrtf(p_sum) / sqrtf(u_sum) : 1);
        int i = 0;
        for (__m256 steps = _mm256_set1_ps(step); i + 8 <= tensor.size; i += 8) {  // gcc 12 has no vectors for this
            __m256 q = _mm256_sub_ps(_mm256_loadu_ps(p + i), _mm256_mul_ps(steps, _mm256_loadu_ps(u + i)));
            _mm256_storeu_ps(p + i, q);
            _mm_storeu_si128((__m128i *)(h + i), _mm256_cvtps_ph(q, _MM_FROUND_TO_NEAREST_INT));
        }
        for (; i < tensor.size; i++) {
            p[i] -= step * u[i];
            h[i] = p[i];
        }
    }
}

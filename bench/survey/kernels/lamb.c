// LAMB, tensor by tensor: moments, updates and norms in one pass, steps in another.
#include "native.h"
#include <immintrin.h>
enum { PART = 512 };

typedef struct {
    long long offset;
    int size, first_chunk, chunks;
    float weight_decay;
    uchar adapt;
} Tensor;

// gcc 12 has no vectors for this.
static inline void widen(float *restrict to, const _Float16 *restrict from, int n) {
    int i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from + i))));
    for (; i < n; i++)
        to[i] = from[i];
}

void run(const _Float16 *restrict grads, float *restrict params, float *restrict m, float *restrict v,
         float *restrict update, _Float16 *restrict half, const Tensor *restrict tensors, float loss_scale,
         float max_norm, float beta1, float beta2, float epsilon, float correction1, float correction2, float rate,
         int count) {
    float total = 0, g[PART];
    for (int t = 0; t < count; t++)
        for (int first = 0; first < tensors[t].size; first += PART) {
            int n = MIN(PART, tensors[t].size - first);
            widen(g, grads + tensors[t].offset + first, n);
#pragma omp simd reduction(+ : total)
            for (int i = 0; i < n; i++)
                total += g[i] * g[i];
        }
    float norm = sqrtf(total) / loss_scale, factor = 1 / (loss_scale * (norm > max_norm ? norm / max_norm : 1));
    for (int t = 0; t < count; t++) {
        Tensor tensor = tensors[t];
        float *restrict p = params + tensor.offset, *restrict u = update + tensor.offset;
        _Float16 *restrict h = half + tensor.offset;
        float p_sum = 0, u_sum = 0;
        for (int first = 0; first < tensor.size; first += PART) {
            int n = MIN(PART, tensor.size - first);
            long at = tensor.offset + first;
            widen(g, grads + at, n);
            float *restrict p_ = params + at, *restrict m_ = m + at, *restrict v_ = v + at, *restrict u_ = update + at;
#pragma omp simd reduction(+ : p_sum, u_sum)
            for (int i = 0; i < n; i++) {
                float gradient = g[i] * factor;
                float m1 = beta1 * m_[i] + (1 - beta1) * gradient;
                float v1 = beta2 * v_[i] + (1 - beta2) * gradient * gradient;
                m_[i] = m1;
                v_[i] = v1;
                float d = (m1 / correction1) / (sqrtf(v1 / correction2) + epsilon) + tensor.weight_decay * p_[i];
                u_[i] = d;
                p_sum += p_[i] * p_[i];
                u_sum += d * d;
            }
        }
        float step = rate * (tensor.adapt && p_sum > 0 && u_sum > 0 ? sqrtf(p_sum) / sqrtf(u_sum) : 1);
        int i = 0;
        for (__m256 steps = _mm256_set1_ps(step); i + 8 <= tensor.size; i += 8) {
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

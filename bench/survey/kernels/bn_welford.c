// Batch normalisation in training, forward and backward, a channel at a time.
#include "native.h"

void run(const float *restrict input, const float *restrict grad_output, const float *restrict weight,
         const float *restrict bias, float *restrict output, float *restrict grad_input, float *restrict save_mean,
         float *restrict save_invstd, float *restrict running_mean, float *restrict running_var,
         float *restrict grad_weight, float *restrict grad_bias, int batch, int channels, int plane, float eps,
         float momentum) {
    int count = batch * plane;
    for (int c = 0; c < channels; c++) {
        double total = 0, squares = 0, gsum = 0, gdot = 0;
        for (int n = 0; n < batch; n++) {
            const float *x = input + (n * channels + c) * plane;
            float s = 0;
#pragma omp simd reduction(+ : s)
            for (int i = 0; i < plane; i++)
                s += x[i];
            total += s;
        }
        float mean = total / count;
        for (int n = 0; n < batch; n++) {
            const float *x = input + (n * channels + c) * plane, *g = grad_output + (n * channels + c) * plane;
            float v = 0, s = 0, d = 0;
#pragma omp simd reduction(+ : v, s, d)
            for (int i = 0; i < plane; i++) {
                float a = x[i] - mean;
                v += a * a;
                s += g[i];
                d += g[i] * a;
            }
            squares += v;
            gsum += s;
            gdot += d;
        }
        float invstd = 1 / sqrtf(squares / count + eps), scale = invstd * weight[c], shift = bias[c];
        float gmean = gsum / count, proj = gdot / count * invstd * invstd;
        save_mean[c] = mean;
        save_invstd[c] = invstd;
        running_mean[c] = (1 - momentum) * running_mean[c] + momentum * mean;
        running_var[c] = (1 - momentum) * running_var[c] + momentum * (float)(squares / (count - 1));
        grad_weight[c] = gdot * invstd;
        grad_bias[c] = gsum;
        for (int n = 0; n < batch; n++) {
            long at = (long)(n * channels + c) * plane;
#pragma omp simd
            for (int i = 0; i < plane; i++) {
                float a = input[at + i] - mean;
                output[at + i] = a * scale + shift;
                grad_input[at + i] = (grad_output[at + i] - a * proj - gmean) * scale;
            }
        }
    }
}

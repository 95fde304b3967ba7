// A perceptron of two layers learns from one batch: rows of weights in vectors, samples four at a time.
#include "native.h"

#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"))) extern double exp(double);
#endif

static void forward(const float *restrict x, const float *restrict w, const float *restrict b, float *restrict y,
                    int batch, int in, int out) {
    for (int i = 0; i < batch; i++) {
        float *restrict to = y + i * out;
        memcpy(to, b, out * sizeof(float));
        int k = 0;
        for (; k + 4 <= in; k += 4) {
            const float *restrict r = w + k * out, *from = x + i * in + k;
            float x0 = from[0], x1 = from[1], x2 = from[2], x3 = from[3];
#pragma omp simd
            for (int j = 0; j < out; j++)
                to[j] += x0 * r[j] + x1 * r[out + j] + x2 * r[2 * out + j] + x3 * r[3 * out + j];
        }
        for (; k < in; k++) {
            float x0 = x[i * in + k];
#pragma omp simd
            for (int j = 0; j < out; j++)
                to[j] += x0 * w[k * out + j];
        }
    }
#pragma omp simd
    for (int i = 0; i < batch * out; i++)
        y[i] = 1.0 / (1.0 + exp(-y[i]));
}

static void update(const float *restrict x, const float *restrict delta, float *restrict w, float *restrict b,
                   float *restrict sums, int batch, int in, int out, float rate) {
    memset(sums, 0, (in + 1L) * out * sizeof(float));
    float *restrict bias = sums + in * out;
    int i = 0;
    for (; i + 4 <= batch; i += 4) {
        const float *restrict d = delta + i * out, *from = x + i * in;
#pragma omp simd
        for (int j = 0; j < out; j++)
            bias[j] += d[j] + d[out + j] + d[2 * out + j] + d[3 * out + j];
        for (int k = 0; k < in; k++) {
            float x0 = from[k], x1 = from[in + k], x2 = from[2 * in + k], x3 = from[3 * in + k];
            float *restrict to = sums + k * out;
#pragma omp simd
            for (int j = 0; j < out; j++)
                to[j] += x0 * d[j] + x1 * d[out + j] + x2 * d[2 * out + j] + x3 * d[3 * out + j];
        }
    }
    for (; i < batch; i++) {
        const float *restrict d = delta + i * out;
        for (int j = 0; j < out; j++)
            bias[j] += d[j];
        for (int k = 0; k < in; k++)
            for (int j = 0; j < out; j++)
                sums[k * out + j] += x[i * in + k] * d[j];
    }
#pragma omp simd
    for (int k = 0; k < in * out; k++)
        w[k] -= rate * sums[k] / batch;
    for (int j = 0; j < out; j++)
        b[j] -= rate * bias[j] / batch;
}

void run(const float *restrict x, const float *restrict target, float *restrict w1, float *restrict b1,
         float *restrict w2, float *restrict b2, float *restrict hidden, float *restrict y, float *restrict d1,
         float *restrict d2, int batch, int in, int mid, int out, float rate, int epochs) {
    float *sums = malloc((MAX(in, mid) + 1L) * MAX(mid, out) * sizeof(float));
    for (int e = 0; e < epochs; e++) {
        forward(x, w1, b1, hidden, batch, in, mid);
        forward(hidden, w2, b2, y, batch, mid, out);
        for (int i = 0; i < batch * out; i++)
            d2[i] = (y[i] - target[i]) * y[i] * (1 - y[i]);
        for (int i = 0; i < batch; i++)
            for (int k = 0; k < mid; k++) {
                float sum = 0, h = hidden[i * mid + k];
#pragma omp simd reduction(+ : sum)
                for (int j = 0; j < out; j++)
                    sum += d2[i * out + j] * w2[k * out + j];
                d1[i * mid + k] = sum * h * (1 - h);
            }
        update(hidden, d2, w2, b2, sums, batch, mid, out, rate);
        update(x, d1, w1, b1, sums, batch, in, mid, rate);
    }
    free(sums);
}

// A layer of a graph attention network; half precision becomes float once, edges' weights are kept for a node.
#include "native.h"

enum { HEADS = 4, DIM = 64, ALL = HEADS * DIM };

void run(const _Float16 *restrict features, const float *restrict a_source, const float *restrict a_target,
         const int *restrict row_start, const int *restrict neighbours, const float *restrict bias,
         _Float16 *restrict out, int n, float slope) {
    float *restrict f = malloc((size_t)n * ALL * sizeof(float)), *restrict source = malloc(n * HEADS * sizeof(float));
    float *restrict target = malloc(n * HEADS * sizeof(float));
    for (int v = 0; v < n; v++) {
        for (int i = 0; i < ALL; i++)
            f[(size_t)v * ALL + i] = features[(size_t)v * ALL + i];
        for (int h = 0; h < HEADS; h++) {
            const float *own = f + (size_t)v * ALL + h * DIM;
            float s = 0, t = 0;
#pragma omp simd reduction(+ : s, t)
            for (int i = 0; i < DIM; i++)
                s += own[i] * a_source[h * DIM + i], t += own[i] * a_target[h * DIM + i];
            source[v * HEADS + h] = s, target[v * HEADS + h] = t;
        }
    }
    int widest = 1;
    for (int v = 0; v < n; v++)
        widest = MAX(widest, row_start[v + 1] - row_start[v]);
    float(*restrict weight)[HEADS] = malloc(widest * sizeof *weight);
    for (int v = 0; v < n; v++) {
        int begin = row_start[v], count = row_start[v + 1] - begin;
        float most[HEADS], total[HEADS] = {0}, sum[ALL] = {0};
        for (int h = 0; h < HEADS; h++)
            most[h] = -INFINITY;
        for (int k = 0; k < count; k++)
            for (int h = 0; h < HEADS; h++) {
                float x = source[neighbours[begin + k] * HEADS + h] + target[v * HEADS + h];
                weight[k][h] = x = x > 0 ? x : slope * x;
                most[h] = x > most[h] ? x : most[h];
            }
#pragma omp simd
        for (int i = 0; i < count * HEADS; i++)
            weight[0][i] = expf(weight[0][i] - most[i % HEADS]);
        for (int k = 0; k < count; k++) {
            const float *other = f + (size_t)neighbours[begin + k] * ALL;
            for (int h = 0; h < HEADS; h++) {
                float w = weight[k][h];
                total[h] += w;
#pragma omp simd
                for (int i = 0; i < DIM; i++)
                    sum[h * DIM + i] += w * other[h * DIM + i];
            }
        }
        for (int h = 0; h < HEADS; h++) {
            float scale = total[h] > 0 ? 1 / total[h] : 0;
            for (int i = h * DIM; i < (h + 1) * DIM; i++)
                sum[i] = sum[i] * scale + bias[i];
        }
#pragma omp simd
        for (int i = 0; i < ALL; i++) {
            float low = expf(sum[i] < 0 ? sum[i] : 0) - 1;
            sum[i] = sum[i] > 0 ? sum[i] : low;
        }
        for (int i = 0; i < ALL; i++)
            out[(size_t)v * ALL + i] = sum[i];
    }
    free(f), free(source), free(target), free(weight);
}

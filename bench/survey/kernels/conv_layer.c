#include "native.h"

void run(float *restrict out, const float *restrict in, const float *restrict filter, int B, int M, int C, int H, int W,
         int K) {
    int Ho = H - K + 1, Wo = W - K + 1;
    for (int b = 0; b < B; b++)
        for (int m = 0; m < M; m++)
            for (int h = 0; h < Ho; h++) {
                float *o = out + ((b * M + m) * Ho + h) * Wo;
                memset(o, 0, Wo * sizeof(float));
                for (int c = 0; c < C; c++)
                    for (int p = 0; p < K; p++)
                        for (int q = 0; q < K; q++) {
                            float f = filter[((m * C + c) * K + p) * K + q];
                            const float *i = in + ((b * C + c) * H + h + p) * W + q;
#pragma omp simd
                            for (int w = 0; w < Wo; w++)
                                o[w] += f * i[w];
                        }
            }
}

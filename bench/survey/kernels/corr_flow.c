// The correlation of two maps over displacements, channels last with borders of zeros.
#include "native.h"

void run(const float *restrict input1, const float *restrict input2, float *restrict padded1, float *restrict padded2,
         float *restrict output, int batch, int channels, int height, int width, int pad, int stride2) {
    int pw = width + 2 * pad, ph = height + 2 * pad, rad = pad / stride2, side = 2 * rad + 1;
    for (int n = 0; n < batch; n++)
        for (int c = 0; c < channels; c++)
            for (int y = 0; y < height; y++)
                for (int x = 0; x < width; x++) {
                    long from = (((long)n * channels + c) * height + y) * width + x;
                    long to = (((long)n * ph + y + pad) * pw + x + pad) * channels + c;
                    padded1[to] = input1[from];
                    padded2[to] = input2[from];
                }
    for (int n = 0; n < batch; n++)
        for (int y = 0; y < height; y++)
            for (int tj = -rad; tj <= rad; tj++)
                for (int x = 0; x < width; x++) {
                    const float *a = padded1 + (((long)n * ph + y + pad) * pw + x + pad) * channels;
                    for (int ti = -rad; ti <= rad; ti++) {
                        const float *b = padded2 + (((long)n * ph + y + pad + tj * stride2) * pw + x + pad +
                                                    ti * stride2) * channels;
                        float sum = 0;
#pragma omp simd reduction(+ : sum)
                        for (int c = 0; c < channels; c++)
                            sum += a[c] * b[c];
                        int tc = (tj + rad) * side + ti + rad;
                        output[(((long)n * side * side + tc) * height + y) * width + x] = sum / channels;
                    }
                }
}

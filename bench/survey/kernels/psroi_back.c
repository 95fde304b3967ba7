// Position-sensitive pooling of regions and its gradient, regions' edges of bins once for all channels.
#include "native.h"

static void edges(float from, float to, int bins, int size, int *low, int *high) {
    int start = roundf(from), length = MAX((int)roundf(to) - start, 1);
    float each = (float)length / bins;
    for (int i = 0; i < bins; i++) {
        low[i] = MIN(MAX((int)floorf(i * each) + start, 0), size - 1);
        high[i] = MIN(MAX((int)ceilf((i + 1) * each) + start, 0), size - 1);
    }
}

void run(const float *restrict input, const float *restrict rois, const float *restrict grad_output,
         float *restrict output, int *restrict mapping, float *restrict grad_input, int regions, float scale,
         int channels, int height, int width, int ph, int pw, int channels_out) {
    int top[ph], bottom[ph], left[pw], right[pw];
    for (int n = 0; n < regions; n++) {
        const float *roi = rois + 5 * n;
        edges(roi[1] * scale, roi[3] * scale, pw, width, left, right);
        edges(roi[2] * scale, roi[4] * scale, ph, height, top, bottom);
        for (int c = 0; c < channels_out; c++)
            for (int i = 0; i < ph; i++)
                for (int j = 0; j < pw; j++) {
                    int c_in = (c * ph + i) * pw + j, rows = bottom[i] - top[i], cols = right[j] - left[j];
                    long at = ((long)n * channels_out + c) * ph * pw + i * pw + j;
                    size_t plane = ((size_t)roi[0] * channels + c_in) * height * width;
                    float sum = 0;
                    mapping[at] = c_in;
                    output[at] = 0;
                    if (rows <= 0 || cols <= 0)
                        continue;
                    float share = grad_output[at] / (rows * cols);
                    for (int h = top[i]; h < bottom[i]; h++) {
                        const float *in = input + plane + h * width;
                        float *back = grad_input + plane + h * width;
                        for (int w = left[j]; w < right[j]; w++) {
                            sum += in[w];
                            back[w] += share;
                        }
                    }
                    output[at] = sum / (rows * cols);
                }
    }
}

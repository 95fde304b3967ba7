// A deformable convolution's columns (kernels of 3 x 3) and its gradients: the place and its weights are found once
// for all channels of a group.
#include "native.h"

void run(const float *restrict im, const float *restrict offset, const float *restrict mask,
         const float *restrict grad_col, float *restrict col, float *restrict grad_im, float *restrict grad_offset,
         float *restrict grad_mask, int batch, int channels, int groups, int height, int width, int oh, int ow, int pad,
         int stride, int dilation) {
    int each = channels / groups, plane = oh * ow, size = height * width;
    for (int b = 0; b < batch; b++)
        for (int g = 0; g < groups; g++)
            for (int tap = 0; tap < 9; tap++)
                for (int y = 0; y < oh; y++)
                    for (int x = 0; x < ow; x++) {
                        int at = y * ow + x;
                        long o = ((long)(b * groups + g) * 18 + 2 * tap) * plane + at;
                        long m = ((long)(b * groups + g) * 9 + tap) * plane + at;
                        float h = y * stride - pad + tap / 3 * dilation + offset[o];
                        float w = x * stride - pad + tap % 3 * dilation + offset[o + plane];
                        long c = (((long)g * each * 9 + tap) * batch + b) * plane + at, next = 9L * batch * plane;
                        if (h <= -1 || w <= -1 || h >= height || w >= width) {
                            for (int k = 0; k < each; k++)
                                col[c + k * next] = 0;
                            grad_offset[o] = grad_offset[o + plane] = grad_mask[m] = 0;
                            continue;
                        }
                        int y0 = floorf(h), x0 = floorf(w);
                        float lh = h - y0, lw = w - x0, hh = 1 - lh, hw = 1 - lw, scale = mask[m];
                        int top = y0 >= 0, bottom = y0 + 1 < height, left = x0 >= 0, right = x0 + 1 < width;
                        long base = (long)(b * channels + g * each) * size + y0 * width + x0;
                        float gh = 0, gw = 0, gm = 0;
                        for (int k = 0; k < each; k++, base += size, c += next) {
                            float v1 = top & left ? im[base] : 0, v2 = top & right ? im[base + 1] : 0;
                            float v3 = bottom & left ? im[base + width] : 0;
                            float v4 = bottom & right ? im[base + width + 1] : 0;
                            float v = hh * hw * v1 + hh * lw * v2 + lh * hw * v3 + lh * lw * v4;
                            float grad = grad_col[c], masked = grad * scale;
                            col[c] = v * scale;
                            gm += grad * v;
                            gh += (hw * (v3 - v1) + lw * (v4 - v2)) * masked;
                            gw += (hh * (v2 - v1) + lh * (v4 - v3)) * masked;
                            if (top & left)
                                grad_im[base] += hh * hw * masked;
                            if (top & right)
                                grad_im[base + 1] += hh * lw * masked;
                            if (bottom & left)
                                grad_im[base + width] += lh * hw * masked;
                            if (bottom & right)
                                grad_im[base + width + 1] += lh * lw * masked;
                        }
                        grad_offset[o] = gh;
                        grad_offset[o + plane] = gw;
                        grad_mask[m] = gm;
                    }
}

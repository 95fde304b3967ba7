#include "native.h"
enum { BINS = 64, SAMPLES = 16 };

// Places and weights of a region's samples serve all of its channels.
void run(const float *restrict input, const float *restrict rois, float *restrict output, int total, float scale,
         int channels, int height, int width, int ph, int pw, int ratio) {
    static int place[BINS * SAMPLES][4];
    static float weight[BINS * SAMPLES][4];
    int bins = ph * pw, per = ratio * ratio, count = total / (bins * channels);
    for (int n = 0; n < count; n++) {
        const float *roi = rois + n * 5;
        float x1 = roi[1] * scale - 0.5f, y1 = roi[2] * scale - 0.5f;
        float bin_w = (roi[3] * scale - 0.5f - x1) / pw, bin_h = (roi[4] * scale - 0.5f - y1) / ph;
        int k = 0;
        for (int by = 0; by < ph; by++)
            for (int bx = 0; bx < pw; bx++)
                for (int iy = 0; iy < ratio; iy++)
                    for (int ix = 0; ix < ratio; ix++, k++) {
                        float y = y1 + by * bin_h + (iy + 0.5f) * bin_h / ratio;
                        float x = x1 + bx * bin_w + (ix + 0.5f) * bin_w / ratio;
                        if (y < -1 || y > height || x < -1 || x > width) {
                            memset(place[k], 0, sizeof place[k]);
                            memset(weight[k], 0, sizeof weight[k]);
                            continue;
                        }
                        y = MIN(MAX(y, 0), height - 1);
                        x = MIN(MAX(x, 0), width - 1);
                        int y0 = y, x0 = x, y2 = MIN(y0 + 1, height - 1), x2 = MIN(x0 + 1, width - 1);
                        float ly = y - y0, lx = x - x0;
                        place[k][0] = y0 * width + x0, weight[k][0] = (1 - ly) * (1 - lx);
                        place[k][1] = y0 * width + x2, weight[k][1] = (1 - ly) * lx;
                        place[k][2] = y2 * width + x0, weight[k][2] = ly * (1 - lx);
                        place[k][3] = y2 * width + x2, weight[k][3] = ly * lx;
                    }
        for (int c = 0; c < channels; c++) {
            const float *data = input + ((long)(int)roi[0] * channels + c) * height * width;
            float *to = output + ((long)n * channels + c) * bins;
            for (int b = 0; b < bins; b++) {
                float sum = 0;
                for (int s = b * per; s < (b + 1) * per; s++)
                    for (int i = 0; i < 4; i++)
                        sum += weight[s][i] * data[place[s][i]];
                to[b] = sum / per;
            }
        }
    }
}

// Soft suppression of each class's boxes.
#include "native.h"

void run(const float *restrict boxes, const float *restrict scores, int *restrict keep, float *restrict keep_score,
         int *restrict keep_count, int classes, int n, int method, float sigma, float iou_threshold, float min_score,
         int max_keep) {
    float *x0 = malloc(6 * n * sizeof(float)), *y0 = x0 + n, *x1 = y0 + n, *y1 = x1 + n, *area = y1 + n, *s = area + n;
    for (int c = 0; c < classes; c++) {
        for (int i = 0; i < n; i++) {
            const float *b = boxes + 4L * (c * n + i);
            x0[i] = b[0], y0[i] = b[1], x1[i] = b[2], y1[i] = b[3];
            area[i] = (b[2] - b[0]) * (b[3] - b[1]);
        }
        memcpy(s, scores + (long)c * n, n * sizeof(float));
        int kept = 0;
        for (; kept < max_keep; kept++) {
            float best = -1;
#pragma omp simd reduction(max : best)
            for (int i = 0; i < n; i++)
                best = s[i] > best ? s[i] : best;
            if (best < min_score)
                break;
            int at = 0;
            while (s[at] != best)
                at++;
            keep[c * max_keep + kept] = at;
            keep_score[c * max_keep + kept] = best;
            s[at] = -1;
            float l = x0[at], t = y0[at], r = x1[at], b = y1[at], size = area[at];
#pragma omp simd
            for (int i = 0; i < n; i++) {
                float w = (r < x1[i] ? r : x1[i]) - (l > x0[i] ? l : x0[i]);
                float h = (b < y1[i] ? b : y1[i]) - (t > y0[i] ? t : y0[i]);
                float inter = (w > 0 ? w : 0) * (h > 0 ? h : 0), iou = inter / (size + area[i] - inter);
                float hard = iou > iou_threshold ? 0 : 1;
                float weight = method == 2 ? expf(-(iou * iou) / sigma) : method == 1 ? (hard ? 1 : 1 - iou) : hard;
                s[i] = s[i] >= min_score ? s[i] * weight : s[i];
            }
        }
        keep_count[c] = kept;
    }
    free(x0);
}

// A node of a gradient-boosted tree, row by row; sums in fixed point.
#include "native.h"
enum { BINS = 64 };

typedef struct {
    float gain;
    int feature, bin;
    float left_grad, left_hess;
} Split;

static inline float score(float g, float h, float lambda) {
    return g * g / (h + lambda);
}

void run(const uchar *restrict bins, const float *restrict gradients, const uint *restrict rows,
         int64_t *restrict hist, Split *restrict splits, Split *restrict best, int *restrict node_of,
         uint *restrict left_count, int count, int features, float to_fixed, float from_fixed, float lambda,
         float min_child, int node) {
    memset(hist, 0, (long)features * BINS * 2 * sizeof *hist);
    for (int i = 0; i < count; i++) {
        uint row = rows[i];
        int64_t g = llrintf(gradients[2L * row] * to_fixed), h = llrintf(gradients[2L * row + 1] * to_fixed);
        const uchar *at = bins + (long)row * features;
        for (int f = 0; f < features; f++) {
            int64_t *to = hist + (f * BINS + at[f]) * 2;
            to[0] += g;
            to[1] += h;
        }
    }
    *best = (Split){-INFINITY, features, 0, 0, 0};
    for (int f = 0; f < features; f++) {
        const int64_t *of = hist + (long)f * BINS * 2;
        int64_t total_g = 0, total_h = 0, left_g = 0, left_h = 0;
        for (int b = 0; b < BINS; b++)
            total_g += of[2 * b], total_h += of[2 * b + 1];
        float parent = score(total_g * from_fixed, total_h * from_fixed, lambda);
        Split found = {-INFINITY, f, 0, 0, 0};
        for (int b = 0; b < BINS; b++) {
            left_g += of[2 * b], left_h += of[2 * b + 1];
            float lg = left_g * from_fixed, lh = left_h * from_fixed;
            float rg = (total_g - left_g) * from_fixed, rh = (total_h - left_h) * from_fixed;
            if (lh < min_child || rh < min_child)
                continue;
            float gain = score(lg, lh, lambda) + score(rg, rh, lambda) - parent;
            if (gain > found.gain)
                found = (Split){gain, f, b, lg, lh};
        }
        splits[f] = found;
        if (found.gain > best->gain)
            *best = found;
    }
    uint left = 0;
    int feature = best->feature, bin = best->bin;
    for (int i = 0; i < count; i++) {
        uint row = rows[i];
        int is_left = bins[(long)row * features + feature] <= bin;
        node_of[row] = 2 * node + 2 - is_left;
        left += is_left;
    }
    *left_count = left;
}

// A plane of shapes as signed distances: a row at a time, one shape after the other.
#include "native.h"

typedef struct {
    int kind, cut;
    float p[5], tone;
} record;

static inline float sat(float v) {
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

static inline float length(float x, float y) {
    return sqrtf(x * x + y * y);
}

void run(const record *restrict records, float *restrict image, int count, int width, int height, float blend) {
    float *restrict whole = malloc(3 * width * sizeof(float)), *restrict tone = whole + width;
    float *restrict d = tone + width;
    for (int y = 0; y < height; y++) {
        float py = y + 0.5f;
        for (int x = 0; x < width; x++)
            whole[x] = 1e9f, tone[x] = 0;
        for (int i = 0; i < count; i++) {
            record r = records[i];
            float dy = py - r.p[1];
            switch (r.kind) {
            case 0:
#pragma omp simd
                for (int x = 0; x < width; x++)
                    d[x] = length(x + 0.5f - r.p[0], dy) - r.p[2];
                break;
            case 1:
#pragma omp simd
                for (int x = 0; x < width; x++) {
                    float a = fabsf(x + 0.5f - r.p[0]) - r.p[2] + r.p[4], b = fabsf(dy) - r.p[3] + r.p[4];
                    float most = a > b ? a : b;
                    d[x] = length(a > 0 ? a : 0, b > 0 ? b : 0) + (most < 0 ? most : 0) - r.p[4];
                }
                break;
            case 2: {
                float bx = r.p[2] - r.p[0], by = r.p[3] - r.p[1], square = bx * bx + by * by;
#pragma omp simd
                for (int x = 0; x < width; x++) {
                    float ax = x + 0.5f - r.p[0], h = sat((ax * bx + dy * by) / square);
                    d[x] = length(ax - h * bx, dy - h * by) - r.p[4];
                }
                break;
            }
            default:
#pragma omp simd
                for (int x = 0; x < width; x++)
                    d[x] = fabsf(length(x + 0.5f - r.p[0], dy) - r.p[2]) - r.p[3];
            }
            if (r.cut) {
                for (int x = 0; x < width; x++)
                    whole[x] = whole[x] > -d[x] ? whole[x] : -d[x];
            } else {
#pragma omp simd
                for (int x = 0; x < width; x++) {
                    float h = sat(0.5f + 0.5f * (whole[x] - d[x]) / blend);
                    whole[x] += h * (d[x] - whole[x]) - blend * h * (1 - h);
                    tone[x] += h * (r.tone - tone[x]);
                }
            }
        }
        for (int x = 0; x < width; x++) {
            float cover = sat(0.5f - whole[x]);
            image[y * width + x] = cover * tone[x] + (1 - cover) * 0.1f;
        }
    }
    free(whole);
}

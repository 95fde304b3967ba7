// Lucas and Kanade's optical flow at points, coarse to fine; the window's numbers of the first picture are kept.
#include "native.h"

enum { R = 7, SIDE = 2 * R + 1, AREA = SIDE * SIDE };

static int clampi(int v, int high) {
    return v < 0 ? 0 : v > high ? high : v;
}

static void pyr_down(const float *restrict fine, float *restrict coarse, int w, int h, int cw, int ch) {
    static const float tap[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    float *restrict line = malloc((w + 4) * sizeof(float));
    for (int y = 0; y < ch; y++) {
        const float *row[5];
        for (int j = 0; j < 5; j++)
            row[j] = fine + clampi(2 * y + j - 2, h - 1) * w;
        for (int x = 0; x < w; x++)
            line[x + 2] = tap[0] * (row[0][x] + row[4][x]) + tap[1] * (row[1][x] + row[3][x]) + tap[2] * row[2][x];
        line[0] = line[1] = line[2];
        line[w + 2] = line[w + 3] = line[w + 1];
        for (int x = 0; x < cw; x++) {
            const float *p = line + 2 * x;
            coarse[y * cw + x] = tap[0] * (p[0] + p[4]) + tap[1] * (p[1] + p[3]) + tap[2] * p[2];
        }
    }
    free(line);
}

static void scharr(const float *restrict image, float *restrict gx, float *restrict gy, int w, int h) {
    for (int y = 0; y < h; y++) {
        const float *up = image + MAX(y - 1, 0) * w, *mid = image + y * w, *down = image + MIN(y + 1, h - 1) * w;
        for (int x = 0; x < w; x++) {
            int l = MAX(x - 1, 0), r = MIN(x + 1, w - 1);
            gx[y * w + x] = (3 * (up[r] - up[l] + down[r] - down[l]) + 10 * (mid[r] - mid[l])) / 32;
            gy[y * w + x] = (3 * (down[l] - up[l] + down[r] - up[r]) + 10 * (down[x] - up[x])) / 32;
        }
    }
}

static void track(const float *restrict before, const float *restrict after, const float *restrict grad_x,
                  const float *restrict grad_y, int w, int h, const float *restrict points, float *restrict flow,
                  uchar *restrict status, int count, int level, int iterations, float min_eigen) {
    float scale = 1.0f / (1 << level), high_x = w - 1.001f, high_y = h - 1.001f;
    for (int p = 0; p < count; p++) {
        int cx = rintf(points[2 * p] * scale), cy = rintf(points[2 * p + 1] * scale);
        float vx = 2 * flow[2 * p], vy = 2 * flow[2 * p + 1];
        float own[AREA], gx[AREA], gy[AREA], wx[AREA], wy[AREA], gxx = 0, gxy = 0, gyy = 0;
        for (int j = 0, k = 0; j < SIDE; j++)
            for (int i = 0; i < SIDE; i++, k++) {
                int x = clampi(cx + i - R, w - 1), y = clampi(cy + j - R, h - 1);
                own[k] = before[y * w + x], gx[k] = grad_x[y * w + x], gy[k] = grad_y[y * w + x];
                wx[k] = x, wy[k] = y;
            }
#pragma omp simd reduction(+ : gxx, gxy, gyy)
        for (int k = 0; k < AREA; k++)
            gxx += gx[k] * gx[k], gxy += gx[k] * gy[k], gyy += gy[k] * gy[k];
        float det = gxx * gyy - gxy * gxy;
        float eigen = 0.5f * (gxx + gyy - sqrtf((gxx - gyy) * (gxx - gyy) + 4 * gxy * gxy)) / AREA;
        int good = !(eigen < min_eigen);
        for (int n = 0; good && n < iterations; n++) {
            float bx = 0, by = 0;
#pragma omp simd reduction(+ : bx, by)
            for (int k = 0; k < AREA; k++) {
                float x = wx[k] + vx, y = wy[k] + vy;
                x = x > 0 ? x : 0, x = x < high_x ? x : high_x;
                y = y > 0 ? y : 0, y = y < high_y ? y : high_y;
                int ix = (int)x, iy = (int)y, at = iy * w + ix;
                float fx = x - ix, fy = y - iy;
                float top = after[at] + fx * (after[at + 1] - after[at]);
                float bottom = after[at + w] + fx * (after[at + w + 1] - after[at + w]);
                float difference = own[k] - (top + fy * (bottom - top));
                bx += difference * gx[k], by += difference * gy[k];
            }
            float dx = (gyy * bx - gxy * by) / det, dy = (gxx * by - gxy * bx) / det;
            vx += dx, vy += dy;
            if (dx * dx + dy * dy < 0.0001f)
                break;
        }
        float x = cx + vx, y = cy + vy;
        status[p] = good && x >= 0 && y >= 0 && x < w && y < h;
        flow[2 * p] = vx, flow[2 * p + 1] = vy;
    }
}

void run(const float *restrict before, const float *restrict after, const float *restrict points,
         float *restrict flow, uchar *restrict status, int w, int h, int count, int iterations, float min_eigen) {
    int cw = (w + 1) / 2, ch = (h + 1) / 2;
    float *small = malloc(2L * cw * ch * sizeof(float)), *grad = malloc(2L * w * h * sizeof(float));
    pyr_down(before, small, w, h, cw, ch);
    pyr_down(after, small + cw * ch, w, h, cw, ch);
    scharr(small, grad, grad + cw * ch, cw, ch);
    track(small, small + cw * ch, grad, grad + cw * ch, cw, ch, points, flow, status, count, 1, iterations, min_eigen);
    scharr(before, grad, grad + w * h, w, h);
    track(before, after, grad, grad + w * h, w, h, points, flow, status, count, 0, iterations, min_eigen);
    free(small), free(grad);
}

// The Mandelbrot set after Mariani and Silver: a square whose border has one dwell is filled, another is split.
// Sixteen points side by side.
#include "native.h"
enum { SMALLEST = 16, LANES = 16 };

typedef struct {
    double left, top, step;
    int limit, size;
    uint16_t *image;
} View;

static void dwells(const View *v, const int *px, const int *py, int *out) {
    double cx[LANES], cy[LANES], x[LANES], y[LANES];
    long long n[LANES], going = 1;
    for (int k = 0; k < LANES; k++) {
        x[k] = cx[k] = v->left + px[k] * v->step;
        y[k] = cy[k] = v->top + py[k] * v->step;
        n[k] = 0;
    }
    for (int i = 0; i < v->limit && going; i++) {
        going = 0;
#pragma omp simd reduction(| : going)
        for (int k = 0; k < LANES; k++) {
            double xx = x[k] * x[k], yy = y[k] * y[k], xy = x[k] * y[k];
            long long in = xx + yy < 4; // what is out stays where it is
            x[k] = in ? xx - yy + cx[k] : x[k];
            y[k] = in ? 2 * xy + cy[k] : y[k];
            n[k] += in;
            going |= in;
        }
    }
    for (int k = 0; k < LANES; k++)
        out[k] = n[k];
}

static int border(const View *v, int x0, int y0, int size) {
    int side = size - 1, common = -1;
    for (int i = 0; i < 4 * side; i += LANES) {
        int px[LANES], py[LANES], out[LANES];
        for (int k = 0; k < LANES; k++) {
            int j = MIN(i + k, 4 * side - 1), at = j % side, edge = j / side;
            px[k] = x0 + (edge == 0 ? at : edge == 1 ? side : edge == 2 ? side - at : 0);
            py[k] = y0 + (edge == 0 ? 0 : edge == 1 ? at : edge == 2 ? side : side - at);
        }
        dwells(v, px, py, out);
        if (common < 0)
            common = out[0];
        for (int k = 0; k < LANES; k++)
            if (out[k] != common)
                return -2;
    }
    return common;
}

static void square(const View *v, int x0, int y0, int size) {
    int common = border(v, x0, y0, size);
    if (common == -2 && size > SMALLEST) {
        for (int k = 0; k < 4; k++)
            square(v, x0 + (k & 1) * size / 2, y0 + (k >> 1) * size / 2, size / 2);
        return;
    }
    for (int y = y0; y < y0 + size; y++)
        for (int x = x0; x < x0 + size; x += LANES) {
            int px[LANES], py[LANES], out[LANES];
            for (int k = 0; k < LANES; k++) {
                px[k] = x + k;
                py[k] = y;
                out[k] = common;
            }
            if (common == -2)
                dwells(v, px, py, out);
            for (int k = 0; k < LANES && x + k < x0 + size; k++)
                v->image[y * v->size + x + k] = out[k];
        }
}

void run(uint16_t *restrict image, int size, int first, double left, double top, double step, int limit) {
    View view = {left, top, step, limit, size, image};
    for (int y = 0; y < size; y += first)
        for (int x = 0; x < size; x += first)
            square(&view, x, y, first);
}

// Mandelbrot's set deep inside, where a number is two floats.
#include "native.h"

enum { W = 32 };  // pixels side by side

typedef struct {
    float hi, lo;
} dfloat;

static inline dfloat add(dfloat a, dfloat b) {
    float t1 = a.hi + b.hi, e = t1 - a.hi;
    float t2 = ((b.hi - e) + (a.hi - (t1 - e))) + a.lo + b.lo, hi = t1 + t2;
    return (dfloat){hi, t2 - (hi - t1)};
}

static inline dfloat sub(dfloat a, dfloat b) {
    return add(a, (dfloat){-b.hi, -b.lo});
}

static inline dfloat mul(dfloat a, dfloat b) {
    float p = a.hi * b.hi, e = fmaf(a.lo, b.hi, fmaf(a.hi, b.lo, fmaf(a.hi, b.hi, -p))), hi = p + e;
    return (dfloat){hi, e - (hi - p)};
}

void run(uchar *restrict out, const uchar *restrict colors, int w, int h, int crunch, float x0, float x1, float y0,
         float y1, float scale) {
    for (int row = 0; row < h; row++)
        for (int first = 0; first < w; first += W) {
            float cxh[W], cxl[W], xh[W], xl[W], yh[W], yl[W], xxh[W], xxl[W], yyh[W], yyl[W], size[W];
            int steps[W] = {0}, lanes = MIN(W, w - first);
            dfloat s = {scale, 0}, cy = add((dfloat){y0, y1}, mul((dfloat){row, 0}, s));
            for (int i = 0; i < W; i++) {
                dfloat c = add((dfloat){x0, x1}, mul((dfloat){first + i, 0}, s));
                dfloat xx = mul(c, c), yy = mul(cy, cy), sum = add(xx, yy);
                cxh[i] = xh[i] = c.hi;
                cxl[i] = xl[i] = c.lo;
                yh[i] = cy.hi;
                yl[i] = cy.lo;
                xxh[i] = xx.hi;
                xxl[i] = xx.lo;
                yyh[i] = yy.hi;
                yyl[i] = yy.lo;
                size[i] = i < lanes ? sum.hi + sum.lo : 9;
            }
            for (int k = 1, left = 1; k < crunch && left; k++) {
                left = 0;
#pragma omp simd reduction(+ : left)
                for (int i = 0; i < W; i++) {
                    int goes = size[i] < 4;
                    dfloat x = {xh[i], xl[i]}, y = {yh[i], yl[i]}, xx = {xxh[i], xxl[i]}, yy = {yyh[i], yyl[i]};
                    dfloat xy = mul(x, y);
                    y = add(add(xy, xy), cy);
                    x = add(sub(xx, yy), (dfloat){cxh[i], cxl[i]});
                    xx = mul(x, x);
                    yy = mul(y, y);
                    dfloat sum = add(xx, yy);
                    xh[i] = x.hi;
                    xl[i] = x.lo;
                    yh[i] = y.hi;
                    yl[i] = y.lo;
                    xxh[i] = xx.hi;
                    xxl[i] = xx.lo;
                    yyh[i] = yy.hi;
                    yyl[i] = yy.lo;
                    size[i] = goes ? sum.hi + sum.lo : 9;  // what is out stays out
                    steps[i] += goes;
                    left += goes;
                }
            }
            for (int i = 0; i < lanes; i++) {
                // As many steps as the last one allows are none.
                int m = steps[i] == crunch - 1 ? 0 : steps[i] + 1;
                uchar *to = out + 4 * (row * w + first + i);
                for (int c = 0; c < 3; c++)
                    to[c] = m * colors[c];
                to[3] = 0;
            }
        }
}

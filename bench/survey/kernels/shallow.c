#include "native.h"
#define G 9.81f

typedef struct {
    float h, hu, hv;
} Water;

static inline Water flux_x(Water a, Water b) {
    float ua = a.hu / a.h, ub = b.hu / b.h;
    float one = fabsf(ua) + sqrtf(G * a.h), two = fabsf(ub) + sqrtf(G * b.h), speed = one > two ? one : two;
    Water f = {0.5f * (a.hu + b.hu - speed * (b.h - a.h)),
               0.5f * (a.hu * ua + 0.5f * G * a.h * a.h + b.hu * ub + 0.5f * G * b.h * b.h - speed * (b.hu - a.hu)),
               0.5f * (a.hv * ua + b.hv * ub - speed * (b.hv - a.hv))};
    return f;
}

static inline Water flux_y(Water a, Water b) {
    Water f = flux_x((Water){a.h, a.hv, a.hu}, (Water){b.h, b.hv, b.hu});
    return (Water){f.h, f.hv, f.hu};
}

void run(const float *restrict h, const float *restrict hu, const float *restrict hv, float *restrict new_h,
         float *restrict new_hu, float *restrict new_hv, float *restrict speed, int w, int height, float courant) {
    float most = 0;
#pragma omp simd reduction(max : most)
    for (int i = 0; i < w * height; i++) {
        float u = fabsf(hu[i]), v = fabsf(hv[i]), s = (u > v ? u : v) / h[i] + sqrtf(G * h[i]);
        most = s > most ? s : most;
    }
    *speed = most;
    float k = courant / most;
    for (int y = 0; y < height; y++) {
        int back = y > 0 ? w : 0, front = y < height - 1 ? w : 0;
        float turn_back = y > 0 ? 1 : -1, turn_front = y < height - 1 ? 1 : -1;
#pragma omp simd
        for (int x = 0; x < w; x++) {
            int i = y * w + x, a = x > 0 ? i - 1 : i, b = x < w - 1 ? i + 1 : i;
            float turn_a = x > 0 ? 1 : -1, turn_b = x < w - 1 ? 1 : -1;
            Water me = {h[i], hu[i], hv[i]}, left = {h[a], turn_a * hu[a], hv[a]}, right = {h[b], turn_b * hu[b], hv[b]};
            Water up = {h[i - back], hu[i - back], turn_back * hv[i - back]};
            Water down = {h[i + front], hu[i + front], turn_front * hv[i + front]};
            Water l = flux_x(left, me), r = flux_x(me, right), u = flux_y(up, me), d = flux_y(me, down);
            new_h[i] = me.h - k * (r.h - l.h + d.h - u.h);
            new_hu[i] = me.hu - k * (r.hu - l.hu + d.hu - u.hu);
            new_hv[i] = me.hv - k * (r.hv - l.hv + d.hv - u.hv);
        }
    }
}

// Bundle adjustment's normal equations by dual numbers of twelve derivatives, a vector of sixteen.
#include "native.h"

enum { PACKED = 45 };

// lanes 0 to 11: derivatives, lane 15: the value
typedef float Lanes __attribute__((vector_size(64)));
#define VALUE(x) ((x)[15])

static inline Lanes constant(float v) {
    Lanes r = {0};
    r[15] = v;
    return r;
}

static inline Lanes mul(Lanes x, Lanes y) {
    float a = VALUE(x), b = VALUE(y);
    Lanes r = a * y + b * x;
    r[15] = a * b;
    return r;
}

static inline Lanes over(Lanes x, Lanes y) {
    float inv = 1 / VALUE(y), q = VALUE(x) * inv;
    Lanes r = (x - q * y) * inv;
    r[15] = q;
    return r;
}

static inline Lanes chain(Lanes x, float value, float slope) {
    Lanes r = x * slope;
    r[15] = value;
    return r;
}

void run(const float *restrict cameras, const float *restrict points, const int *restrict first,
         const int *restrict point_of, const float *restrict seen, float *restrict camera_hessian,
         float *restrict camera_gradient, float *restrict point_hessian, float *restrict point_gradient,
         float *restrict residuals, float huber, int count) {
    for (int cam = 0; cam < count; cam++) {
        Lanes c[9], axis[3], rows[9] = {0}, grad = {0};
        for (int i = 0; i < 9; i++) {
            c[i] = constant(cameras[cam * 9 + i]);
            c[i][i] = 1;
        }
        Lanes theta2 = mul(c[0], c[0]) + mul(c[1], c[1]) + mul(c[2], c[2]);
        float t = sqrtf(VALUE(theta2));
        Lanes theta = chain(theta2, t, 0.5f / t), cs = chain(theta, cosf(t), -sinf(t)), sn = chain(theta, sinf(t), cosf(t));
        for (int i = 0; i < 3; i++)
            axis[i] = over(c[i], theta);
        for (int o = first[cam]; o < first[cam + 1]; o++) {
            int which = point_of[o];
            Lanes x[3], p[3];
            for (int i = 0; i < 3; i++) {
                x[i] = constant(points[which * 3 + i]);
                x[i][9 + i] = 1;
            }
            Lanes along = mul(axis[0], x[0]) + mul(axis[1], x[1]) + mul(axis[2], x[2]);
            along = mul(along, constant(1) - cs);
            for (int i = 0; i < 3; i++) {
                int j = (i + 1) % 3, k = (i + 2) % 3;
                p[i] = mul(x[i], cs) + mul(mul(axis[j], x[k]) - mul(axis[k], x[j]), sn) + mul(axis[i], along) + c[3 + i];
            }
            Lanes u = -over(p[0], p[2]), v = -over(p[1], p[2]), r2 = mul(u, u) + mul(v, v);
            Lanes scale = mul(c[6], constant(1) + mul(r2, c[7] + mul(r2, c[8])));
            u = mul(scale, u);
            v = mul(scale, v);
            float rx = VALUE(u) - seen[2 * o], ry = VALUE(v) - seen[2 * o + 1], norm = sqrtf(rx * rx + ry * ry);
            float weight = norm > huber ? huber / norm : 1;
            residuals[2 * o] = rx;
            residuals[2 * o + 1] = ry;
            Lanes wu = weight * u, wv = weight * v, g = wu * rx + wv * ry;
            grad += g;
            for (int i = 0; i < 9; i++)
                rows[i] += wu * u[i] + wv * v[i];
            for (int i = 9, at = 0; i < 12; i++) {
                for (int j = 9; j <= i; j++, at++)
                    point_hessian[which * 6 + at] += wu[i] * u[j] + wv[i] * v[j];
                point_gradient[which * 3 + i - 9] += g[i];
            }
        }
        int k = 0;
        for (int i = 0; i < 9; i++)
            for (int j = 0; j <= i; j++)
                camera_hessian[cam * PACKED + k++] = rows[i][j];
        for (int i = 0; i < 9; i++)
            camera_gradient[cam * 9 + i] = grad[i];
    }
}

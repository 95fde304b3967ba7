// Bundle adjustment's normal equations by dual numbers, whose derivatives are a vector of sixteen.
#include "native.h"

enum { PACKED = 45 };

// a value and its twelve derivatives
typedef float Lanes __attribute__((vector_size(64)));
typedef struct {
    float a;
    Lanes v;
} Jet;

static inline Jet variable(float a, int k) {
    Jet r = {a, {0}};
    r.v[k] = 1;
    return r;
}

static inline Jet add(Jet x, Jet y) {
    return (Jet){x.a + y.a, x.v + y.v};
}

static inline Jet sub(Jet x, Jet y) {
    return (Jet){x.a - y.a, x.v - y.v};
}

static inline Jet mul(Jet x, Jet y) {
    return (Jet){x.a * y.a, x.a * y.v + y.a * x.v};
}

static inline Jet over(Jet x, Jet y) {
    float inv = 1 / y.a, q = x.a * inv;
    return (Jet){q, (x.v - q * y.v) * inv};
}

static inline Jet chain(Jet x, float value, float slope) {
    return (Jet){value, x.v * slope};
}

static inline Jet minus(float a, Jet x) {
    return (Jet){a - x.a, -x.v};
}

static inline Jet dot(const Jet *x, const Jet *y) {
    return add(add(mul(x[0], y[0]), mul(x[1], y[1])), mul(x[2], y[2]));
}

void run(const float *restrict cameras, const float *restrict points, const int *restrict first,
         const int *restrict point_of, const float *restrict seen, float *restrict camera_hessian,
         float *restrict camera_gradient, float *restrict point_hessian, float *restrict point_gradient,
         float *restrict residuals, float huber, int count) {
    for (int cam = 0; cam < count; cam++) {
        Jet c[9], axis[3];
        Lanes rows[9] = {0}, grad = {0};
        for (int i = 0; i < 9; i++)
            c[i] = variable(cameras[cam * 9 + i], i);
        Jet theta2 = dot(c, c);
        float t = sqrtf(theta2.a), cos_t = cosf(t), sin_t = sinf(t);
        Jet theta = chain(theta2, t, 0.5f / t), cs = chain(theta, cos_t, -sin_t), sn = chain(theta, sin_t, cos_t);
        for (int i = 0; i < 3; i++)
            axis[i] = over(c[i], theta);
        for (int o = first[cam]; o < first[cam + 1]; o++) {
            int which = point_of[o];
            Jet x[3], p[3];
            for (int i = 0; i < 3; i++)
                x[i] = variable(points[which * 3 + i], 9 + i);
            Jet along = mul(dot(axis, x), minus(1, cs));
            for (int i = 0; i < 3; i++) {
                int j = (i + 1) % 3, k = (i + 2) % 3;
                Jet cross = sub(mul(axis[j], x[k]), mul(axis[k], x[j]));
                p[i] = add(add(add(mul(x[i], cs), mul(cross, sn)), mul(axis[i], along)), c[3 + i]);
            }
            Jet px = minus(0, over(p[0], p[2])), py = minus(0, over(p[1], p[2]));
            Jet r2 = add(mul(px, px), mul(py, py)), bent = mul(r2, add(c[7], mul(r2, c[8])));
            bent.a += 1;
            Jet scale = mul(c[6], bent);
            px = mul(scale, px);
            py = mul(scale, py);
            Lanes u = px.v, v = py.v;
            float rx = px.a - seen[2 * o], ry = py.a - seen[2 * o + 1], norm = sqrtf(rx * rx + ry * ry);
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

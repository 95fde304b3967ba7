#include "native.h"
enum { W = 16, P = 20 };  // particles side by side; floats of one

typedef float V __attribute__((vector_size(4 * W)));
typedef int B __attribute__((vector_size(4 * W)));

static inline V pick(B which, V a, V b) {
    return (V)(((B)a & which) | ((B)b & ~which));
}

static inline V root(V a) {
    V r;
    for (int l = 0; l < W; l++)
        r[l] = sqrtf(a[l]);
    return r;
}

static inline V magnitude(V a) {
    return (V)((B)a & 0x7fffffff);
}

static inline V between(V a, float low, float high) {
    V zero = {0};
    a = pick(a > low, a, zero + low);
    return pick(a < high, a, zero + high);
}

#define ALL for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)

static inline __attribute__((always_inline)) void rotate(V a[3][3], V v[3][3], int p, int q) {
    V apq = a[p][q], zero = {0};
    B none = magnitude(apq) < 1e-20f;
    V tau = (a[q][q] - a[p][p]) / (2 * pick(none, zero + 1, apq));
    V t = 1 / (magnitude(tau) + root(1 + tau * tau));
    t = pick(none, zero, (V)((B)t | ((B)tau & (int)0x80000000)));
    V c = 1 / root(1 + t * t), s = t * c;
    int r = 3 - p - q;
    V arp = a[r][p], arq = a[r][q];
    a[p][p] -= t * apq;
    a[q][q] += t * apq;
    a[p][q] = a[q][p] = zero;
    a[r][p] = a[p][r] = c * arp - s * arq;
    a[r][q] = a[q][r] = s * arp + c * arq;
    for (int i = 0; i < 3; i++) {
        V vip = v[i][p], viq = v[i][q];
        v[i][p] = c * vip - s * viq;
        v[i][q] = s * vip + c * viq;
    }
}

void run(float *restrict particles, float *restrict stress, int n, float dt, float mu, float lambda, float hardening,
         float least, float most) {
    for (int first = 0; first < n; first += W) {
        int lanes = MIN(W, n - first);
        float in[P][W] __attribute__((aligned(64))) = {0}, out[6][W] __attribute__((aligned(64)));
        for (int l = 0; l < lanes; l++)
            for (int k = 0; k < P; k++)
                in[k][l] = particles[(size_t)(first + l) * P + k];
        const V *x = (const V *)in;
        V zero = {0}, F[3][3], a[3][3], v[3][3], u[3][3], e[3][3], r[3][3], s[3], ratio = zero + 1, J = zero + 1;
        ALL F[i][j] = x[3 * i + j] + dt * (x[9 + 3 * i] * x[j] + x[10 + 3 * i] * x[3 + j] + x[11 + 3 * i] * x[6 + j]);
        ALL a[i][j] = F[0][i] * F[0][j] + F[1][i] * F[1][j] + F[2][i] * F[2][j];
        ALL v[i][j] = zero + (float)(i == j);
        for (int sweep = 0; sweep < 4; sweep++) {
            rotate(a, v, 0, 1);
            rotate(a, v, 0, 2);
            rotate(a, v, 1, 2);
        }
        ALL u[i][j] = F[i][0] * v[0][j] + F[i][1] * v[1][j] + F[i][2] * v[2][j];
        for (int i = 0; i < 3; i++) {
            V sigma = root(pick(a[i][i] > 1e-12f, a[i][i], zero + 1e-12f));
            s[i] = between(sigma, least, most);
            for (int k = 0; k < 3; k++)
                u[k][i] /= sigma;
            ratio *= sigma / s[i];
            J *= s[i];
        }
        ALL r[i][j] = u[i][0] * v[j][0] + u[i][1] * v[j][1] + u[i][2] * v[j][2];
        ALL e[i][j] = u[i][0] * s[0] * v[j][0] + u[i][1] * s[1] * v[j][1] + u[i][2] * s[2] * v[j][2];
        V plastic = between(x[18] * ratio, 0.6f, 20);
        float power[W];
        for (int l = 0; l < W; l++)
            power[l] = hardening * (1 - plastic[l]);
#pragma omp simd
        for (int l = 0; l < W; l++)
            power[l] = expf(power[l]);
        V hard, volume = x[19];
        memcpy(&hard, power, sizeof hard);
        V *to = (V *)out, turned = 2 * mu * hard, middle = lambda * hard * (J - 1) * J;
        static const int place[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
        for (int k = 0; k < 6; k++) {
            int i = place[k][0], j = place[k][1];
            V sum = zero;
            for (int m = 0; m < 3; m++)
                sum += (e[i][m] - r[i][m]) * e[j][m];
            to[k] = volume * (turned * sum + (i == j ? middle : zero));
        }
        for (int l = 0; l < lanes; l++) {
            float *p = particles + (size_t)(first + l) * P;
            for (int k = 0; k < 9; k++)
                p[k] = e[k / 3][k % 3][l];
            p[18] = plastic[l];
            for (int k = 0; k < 6; k++)
                stress[(size_t)(first + l) * 6 + k] = out[k][l];
        }
    }
}

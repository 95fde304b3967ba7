// Luo-Rudy cells in vectors (both sides of the choice by potential are worked out), then diffusion by rows.
#include "native.h"
__attribute__((simd("notinbranch"))) extern float logf(float);

static inline float gate(float old, float alpha, float beta, float dt) {
    float sum = alpha + beta, steady = alpha / sum;
    return steady - (steady - old) * expf(-dt * sum);
}

static void cells_step(float *restrict v, float *restrict ms, float *restrict hs, float *restrict js,
                       float *restrict ds, float *restrict fs, float *restrict xs, float *restrict cas,
                       const float *restrict stimulus, int cells, float dt) {
#pragma omp simd
    for (int i = 0; i < cells; i++) {
        float V = v[i], ca = cas[i];
        float i_na = 23 * ms[i] * ms[i] * ms[i] * hs[i] * js[i] * (V - 54.4f);
        float a_m = 0.32f * (V + 47.13f) / (1 - expf(-0.1f * (V + 47.13f))), b_m = 0.08f * expf(V * (-1 / 11.0f));
        float high = V > -40 ? V : -40, low = V < -40 ? V : -40;
        float b_h1 = 1 / (0.13f * (1 + expf((high + 10.66f) * (-1 / 11.1f))));
        float b_j1 = 0.3f * expf(-2.535e-7f * high) / (1 + expf(-0.1f * (high + 32)));
        float a_h0 = 0.135f * expf((80 + low) * (-1 / 6.8f));
        float b_h0 = 3.56f * expf(0.079f * low) + 3.1e5f * expf(0.35f * low);
        float a_j0 = (-1.2714e5f * expf(0.2444f * low) - 3.474e-5f * expf(-0.04391f * low)) * (low + 37.78f) /
                     (1 + expf(0.311f * (low + 79.23f)));
        float b_j0 = 0.1212f * expf(-0.01052f * low) / (1 + expf(-0.1378f * (low + 40.14f)));
        float a_h = V >= -40 ? 0 : a_h0, b_h = V >= -40 ? b_h1 : b_h0;
        float a_j = V >= -40 ? 0 : a_j0, b_j = V >= -40 ? b_j1 : b_j0;

        float i_si = 0.09f * ds[i] * fs[i] * (V - (7.7f - 13.0287f * logf(ca)));
        float a_d = 0.095f * expf(-0.01f * (V - 5)) / (1 + expf(-0.072f * (V - 5)));
        float b_d = 0.07f * expf(-0.017f * (V + 44)) / (1 + expf(0.05f * (V + 44)));
        float a_f = 0.012f * expf(-0.008f * (V + 28)) / (1 + expf(0.15f * (V + 28)));
        float b_f = 0.0065f * expf(-0.02f * (V + 30)) / (1 + expf(-0.2f * (V + 30)));

        float from = V + 77, near = fabsf(from) < 1e-3f;
        float back = expf(-0.04f * (V + 35));
        float xi = near ? 2.837f * 0.04f * back : 2.837f * (expf(0.04f * from) - 1) / (near ? 1 : from) * back;
        xi = V > -100 ? xi : 1;
        float i_k = 0.282f * xs[i] * xi * from;
        float a_x = 0.0005f * expf(0.083f * (V + 50)) / (1 + expf(0.057f * (V + 50)));
        float b_x = 0.0013f * expf(-0.06f * (V + 20)) / (1 + expf(-0.04f * (V + 20)));
        float e = V + 87.26f;
        float a_k1 = 1.02f / (1 + expf(0.2385f * (e - 59.215f)));
        float b_k1 = (0.49124f * expf(0.08032f * (e + 5.476f)) + expf(0.06175f * (e - 594.31f))) /
                     (1 + expf(-0.5143f * (e + 4.753f)));
        float i_k1 = 0.6047f * a_k1 / (a_k1 + b_k1) * e;
        float i_kp = 0.0183f / (1 + expf((7.488f - V) * (1 / 5.98f))) * e, i_b = 0.03921f * (V + 59.87f);

        ms[i] = gate(ms[i], a_m, b_m, dt);
        hs[i] = gate(hs[i], a_h, b_h, dt);
        js[i] = gate(js[i], a_j, b_j, dt);
        ds[i] = gate(ds[i], a_d, b_d, dt);
        fs[i] = gate(fs[i], a_f, b_f, dt);
        xs[i] = gate(xs[i], a_x, b_x, dt);
        cas[i] = ca + dt * (-1e-4f * i_si + 0.07f * (1e-4f - ca));
        v[i] = V - dt * (i_na + i_si + i_k + i_k1 + i_kp + i_b + stimulus[i]);
    }
}

static void diffuse(const float *restrict v, float *restrict to, int nx, int ny, float factor) {
    for (int y = 0; y < ny; y++) {
        const float *row = v + y * nx, *up = y ? row - nx : row, *down = y < ny - 1 ? row + nx : row;
        float *restrict out = to + y * nx;
        for (int x = 1; x < nx - 1; x++)
            out[x] = row[x] + factor * (row[x - 1] + row[x + 1] + up[x] + down[x] - 4 * row[x]);
        out[0] = row[0] + factor * (row[0] + row[1] + up[0] + down[0] - 4 * row[0]);
        int last = nx - 1;
        out[last] = row[last] + factor * (row[last - 1] + row[last] + up[last] + down[last] - 4 * row[last]);
    }
}

void run(float *v, float *v_new, float *state, const float *stimulus, int nx, int ny, float dt, float factor,
         int steps) {
    int n = nx * ny;
    for (int t = 0; t < steps; t++) {
        float *from = t % 2 ? v_new : v, *to = t % 2 ? v : v_new;
        cells_step(from, state, state + n, state + 2 * n, state + 3 * n, state + 4 * n, state + 5 * n, state + 6 * n,
                   stimulus, n, dt);
        diffuse(from, to, nx, ny, factor);
    }
}

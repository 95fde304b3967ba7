// A sheet of heart tissue: cells of the Luo-Rudy model of 1991 (seven gates and calcium, by Rush and Larsen), then
// diffusion of the potential, a launch of each for every step.
enum { M, H, J, D, F, X, CA, VARIABLES };

__device__ __forceinline__ float gate(float old, float alpha, float beta, float dt) {
    float sum = alpha + beta;
    float steady = alpha / sum;
    return steady - (steady - old) * expf(-dt * sum);
}

extern "C" __global__ void lr_cells(float *v, float *state, const float *stimulus, int cells, float dt) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= cells)
        return;
    float V = v[id];
    float m = state[M * cells + id], h = state[H * cells + id], j = state[J * cells + id];
    float d = state[D * cells + id], f = state[F * cells + id], x = state[X * cells + id];
    float ca = state[CA * cells + id];

    // fast sodium
    float i_na = 23.0f * m * m * m * h * j * (V - 54.4f);
    float a_m = 0.32f * (V + 47.13f) / (1.0f - expf(-0.1f * (V + 47.13f)));
    float b_m = 0.08f * expf(-V / 11.0f);
    float a_h, b_h, a_j, b_j;
    if (V >= -40.0f) {
        a_h = 0.0f;
        b_h = 1.0f / (0.13f * (1.0f + expf((V + 10.66f) / -11.1f)));
        a_j = 0.0f;
        b_j = 0.3f * expf(-2.535e-7f * V) / (1.0f + expf(-0.1f * (V + 32.0f)));
    } else {
        a_h = 0.135f * expf((80.0f + V) / -6.8f);
        b_h = 3.56f * expf(0.079f * V) + 3.1e5f * expf(0.35f * V);
        a_j = (-1.2714e5f * expf(0.2444f * V) - 3.474e-5f * expf(-0.04391f * V)) * (V + 37.78f) /
              (1.0f + expf(0.311f * (V + 79.23f)));
        b_j = 0.1212f * expf(-0.01052f * V) / (1.0f + expf(-0.1378f * (V + 40.14f)));
    }

    // slow inward
    float e_si = 7.7f - 13.0287f * logf(ca);
    float i_si = 0.09f * d * f * (V - e_si);
    float a_d = 0.095f * expf(-0.01f * (V - 5.0f)) / (1.0f + expf(-0.072f * (V - 5.0f)));
    float b_d = 0.07f * expf(-0.017f * (V + 44.0f)) / (1.0f + expf(0.05f * (V + 44.0f)));
    float a_f = 0.012f * expf(-0.008f * (V + 28.0f)) / (1.0f + expf(0.15f * (V + 28.0f)));
    float b_f = 0.0065f * expf(-0.02f * (V + 30.0f)) / (1.0f + expf(-0.2f * (V + 30.0f)));

    // potassium: in time, without time, of the plateau
    float xi = 1.0f;
    if (V > -100.0f) {
        float from = V + 77.0f;
        xi = fabsf(from) < 1e-3f ? 2.837f * 0.04f * expf(-0.04f * (V + 35.0f))
                                 : 2.837f * (expf(0.04f * from) - 1.0f) / (from * expf(0.04f * (V + 35.0f)));
    }
    float i_k = 0.282f * x * xi * (V + 77.0f);
    float a_x = 0.0005f * expf(0.083f * (V + 50.0f)) / (1.0f + expf(0.057f * (V + 50.0f)));
    float b_x = 0.0013f * expf(-0.06f * (V + 20.0f)) / (1.0f + expf(-0.04f * (V + 20.0f)));
    const float e_k1 = -87.26f;
    float a_k1 = 1.02f / (1.0f + expf(0.2385f * (V - e_k1 - 59.215f)));
    float b_k1 = (0.49124f * expf(0.08032f * (V - e_k1 + 5.476f)) + expf(0.06175f * (V - e_k1 - 594.31f))) /
                 (1.0f + expf(-0.5143f * (V - e_k1 + 4.753f)));
    float i_k1 = 0.6047f * a_k1 / (a_k1 + b_k1) * (V - e_k1);
    float i_kp = 0.0183f / (1.0f + expf((7.488f - V) / 5.98f)) * (V - e_k1);
    float i_b = 0.03921f * (V + 59.87f);

    state[M * cells + id] = gate(m, a_m, b_m, dt);
    state[H * cells + id] = gate(h, a_h, b_h, dt);
    state[J * cells + id] = gate(j, a_j, b_j, dt);
    state[D * cells + id] = gate(d, a_d, b_d, dt);
    state[F * cells + id] = gate(f, a_f, b_f, dt);
    state[X * cells + id] = gate(x, a_x, b_x, dt);
    state[CA * cells + id] = ca + dt * (-1e-4f * i_si + 0.07f * (1e-4f - ca));
    v[id] = V - dt * (i_na + i_si + i_k + i_k1 + i_kp + i_b + stimulus[id]);
}

// Nothing flows through the borders.
extern "C" __global__ void lr_diffuse(const float *v, float *v_new, int nx, int ny, float factor) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    int at = y * nx + x;
    float centre = v[at];
    float left = x > 0 ? v[at - 1] : centre;
    float right = x < nx - 1 ? v[at + 1] : centre;
    float up = y > 0 ? v[at - nx] : centre;
    float down = y < ny - 1 ? v[at + nx] : centre;
    v_new[at] = centre + factor * (left + right + up + down - 4.0f * centre);
}

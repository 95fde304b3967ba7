// A network of Hodgkin-Huxley neurons whose synapses are conductances (the COBAHH benchmark): states by exponential
// Euler, then thresholds whose crossings are put into a list, then the synapses of the neurons in it.
#define C_M 200e-12f
#define G_L 10e-9f
#define E_L -60e-3f
#define E_K -90e-3f
#define E_NA 50e-3f
#define G_NA 20e-6f
#define G_KD 6e-6f
#define V_T -63e-3f
#define TAU_E 5e-3f
#define TAU_I 10e-3f
#define E_E 0.0f
#define E_I -80e-3f

// x / (exp(x / y) - 1) with its limit at 0
__device__ float exprel(float x, float y) {
    float ratio = x / y;
    if (fabsf(ratio) < 1e-4f)
        return y * (1.0f - 0.5f * ratio);
    return x / (expf(ratio) - 1.0f);
}

__device__ float relax(float now, float rise, float fall, float dt) {
    float total = rise + fall, goal = rise / total;
    return goal + (now - goal) * expf(-dt * total);
}

extern "C" __global__ void cobahh_state(float *v, float *ge, float *gi, float *m, float *n, float *h,
                                        const float *current, float *last_spike, unsigned char *refractory, float t,
                                        float dt, int count) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= count)
        return;
    float _v = v[idx], _m = m[idx], _n = n[idx], _h = h[idx], _ge = ge[idx], _gi = gi[idx];
    float u = (_v - V_T) * 1e3f;  // mV
    float alpha_m = 0.32e3f * exprel(13.0f - u, 4.0f);
    float beta_m = 0.28e3f * exprel(u - 40.0f, 5.0f);
    float alpha_h = 0.128e3f * expf((17.0f - u) / 18.0f);
    float beta_h = 4e3f / (1.0f + expf((40.0f - u) / 5.0f));
    float alpha_n = 0.032e3f * exprel(15.0f - u, 5.0f);
    float beta_n = 0.5e3f * expf((10.0f - u) / 40.0f);
    _m = relax(_m, alpha_m, beta_m, dt);
    _n = relax(_n, alpha_n, beta_n, dt);
    _h = relax(_h, alpha_h, beta_h, dt);
    float na = G_NA * _m * _m * _m * _h, kd = G_KD * _n * _n * _n * _n;
    float total = G_L + _ge + _gi + na + kd;
    float goal = (G_L * E_L + _ge * E_E + _gi * E_I + na * E_NA + kd * E_K + current[idx]) / total;
    _v = goal + (_v - goal) * expf(-dt * total / C_M);
    v[idx] = _v;
    m[idx] = _m;
    n[idx] = _n;
    h[idx] = _h;
    ge[idx] = _ge * expf(-dt / TAU_E);
    gi[idx] = _gi * expf(-dt / TAU_I);
    refractory[idx] = t - last_spike[idx] < 3e-3f;
}

extern "C" __global__ void cobahh_threshold(const float *v, float *last_spike, const unsigned char *refractory,
                                            int *spikes, int *spike_count, int *fired, float t, int count) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= count)
        return;
    if (v[idx] > -20e-3f && !refractory[idx]) {
        spikes[atomicAdd(spike_count, 1)] = idx;
        last_spike[idx] = t;
        fired[idx]++;
    }
}

// A block a spike of the list; weights are whole numbers of 0.25 nS so that sums have no rounding in integers.
extern "C" __global__ void cobahh_synapses(const int *spikes, const int *spike_count, const int *target,
                                           unsigned *add_e, unsigned *add_i, int fan, int excitatory) {
    for (int s = blockIdx.x; s < *spike_count; s += gridDim.x) {
        int from = spikes[s];
        unsigned *add = from < excitatory ? add_e : add_i;
        for (int k = threadIdx.x; k < fan; k += blockDim.x)
            atomicAdd(add + target[(size_t)from * fan + k], from < excitatory ? 24u : 268u);
    }
}

extern "C" __global__ void cobahh_deliver(float *ge, float *gi, unsigned *add_e, unsigned *add_i, int *spike_count,
                                          int count) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx == 0)
        *spike_count = 0;
    if (idx >= count)
        return;
    ge[idx] += add_e[idx] * 0.25e-9f;
    gi[idx] += add_i[idx] * 0.25e-9f;
    add_e[idx] = add_i[idx] = 0;
}

// Neurons of Hodgkin and Huxley: a thread for each, all time steps in the kernel, spikes counted.
struct Gates {
    float m, h, n;
};

// x / (1 - exp(-x)), which is 1 at 0.
__device__ float linoid(float x) {
    if (fabsf(x) < 1e-3f)
        return 1.0f + 0.5f * x;
    return x / (1.0f - expf(-x));
}

extern "C" __global__ void hodgkin(float *voltage, Gates *gates, const float *current, int *spikes, int neurons,
                                   int steps, float dt) {
    const float g_na = 120.0f, g_k = 36.0f, g_leak = 0.3f;
    const float e_na = 50.0f, e_k = -77.0f, e_leak = -54.387f, capacity = 1.0f;
    const float threshold = 0.0f;

    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= neurons)
        return;
    float v = voltage[id];
    Gates g = gates[id];
    float injected = current[id];
    int count = 0;
    bool above = v > threshold;

    for (int step = 0; step < steps; step++) {
        float alpha_m = linoid((v + 40.0f) / 10.0f);
        float beta_m = 4.0f * expf(-(v + 65.0f) / 18.0f);
        float alpha_h = 0.07f * expf(-(v + 65.0f) / 20.0f);
        float beta_h = 1.0f / (1.0f + expf(-(v + 35.0f) / 10.0f));
        float alpha_n = 0.1f * linoid((v + 55.0f) / 10.0f);
        float beta_n = 0.125f * expf(-(v + 65.0f) / 80.0f);

        float i_na = g_na * g.m * g.m * g.m * g.h * (v - e_na);
        float i_k = g_k * g.n * g.n * g.n * g.n * (v - e_k);
        float i_leak = g_leak * (v - e_leak);

        v += dt * (injected - i_na - i_k - i_leak) / capacity;
        g.m += dt * (alpha_m * (1.0f - g.m) - beta_m * g.m);
        g.h += dt * (alpha_h * (1.0f - g.h) - beta_h * g.h);
        g.n += dt * (alpha_n * (1.0f - g.n) - beta_n * g.n);

        if (v > threshold) {
            if (!above)
                count++;
            above = true;
        } else {
            above = false;
        }
    }
    voltage[id] = v;
    gates[id] = g;
    spikes[id] = count;
}

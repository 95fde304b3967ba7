// A path-dependent option: each thread goes on with its generator's state.
struct State {
    unsigned d, v[5];
    int has_extra;
    float extra;
};

__device__ unsigned next(State &s) {
    unsigned t = s.v[0] ^ (s.v[0] >> 2);
    s.v[0] = s.v[1];
    s.v[1] = s.v[2];
    s.v[2] = s.v[3];
    s.v[3] = s.v[4];
    s.v[4] = (s.v[4] ^ (s.v[4] << 4)) ^ (t ^ (t << 1));
    s.d += 362437;
    return s.v[4] + s.d;
}

__device__ float normal(State &s) {
    if (s.has_extra) {
        s.has_extra = 0;
        return s.extra;
    }
    float u = next(s) * 2.3283064e-10f + 1.1641532e-10f, v = next(s) * 1.4629181e-9f + 7.3145906e-10f;
    float r = sqrtf(-2.0f * logf(u)), c;
    sincosf(v, &s.extra, &c);
    s.extra *= r;
    s.has_extra = 1;
    return r * c;
}

extern "C" __global__ void asian(State *states, float *__restrict__ out, int n, int steps, float drift, float vol) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    State s = states[i];
    float price = 1, sum = 0;
    for (int k = 0; k < steps; k++) {
        price *= __expf(drift + vol * normal(s));
        sum += price;
    }
    out[i] = fmaxf(sum / steps - 1, 0);
    states[i] = s;
}

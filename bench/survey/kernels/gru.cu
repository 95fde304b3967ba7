// One step of a GRU: a warp for each unit and member of the batch, with the three gates' products in one loop.
__device__ __forceinline__ float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

__device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

extern "C" __global__ void gru_step(const float *__restrict__ x, const float *__restrict__ w_ih,
                                    const float *__restrict__ w_hh, const float *__restrict__ b_ih,
                                    const float *__restrict__ b_hh, float *hs, int inputs, int hidden, int batch,
                                    int t) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int unit = blockIdx.x * (blockDim.x / 32) + warp, b = blockIdx.y;
    if (unit >= hidden)
        return;
    const float *xt = x + (t * batch + b) * inputs;
    const float *h = hs + (t * batch + b) * hidden;
    const float *wr = w_ih + unit * inputs, *wz = wr + hidden * inputs, *wn = wz + hidden * inputs;
    float r = 0.0f, z = 0.0f, n = 0.0f, hn = 0.0f;
    for (int i = lane; i < inputs; i += 32) {
        float v = xt[i];
        r += wr[i] * v;
        z += wz[i] * v;
        n += wn[i] * v;
    }
    const float *ur = w_hh + unit * hidden, *uz = ur + hidden * hidden, *un = uz + hidden * hidden;
    for (int i = lane; i < hidden; i += 32) {
        float v = h[i];
        r += ur[i] * v;
        z += uz[i] * v;
        hn += un[i] * v;
    }
    r = warp_sum(r);
    z = warp_sum(z);
    n = warp_sum(n);
    hn = warp_sum(hn);
    if (lane == 0) {
        r = sigmoid(r + b_ih[unit] + b_hh[unit]);
        z = sigmoid(z + b_ih[hidden + unit] + b_hh[hidden + unit]);
        n = tanhf(n + b_ih[2 * hidden + unit] + r * (hn + b_hh[2 * hidden + unit]));
        hs[((t + 1) * batch + b) * hidden + unit] = (1.0f - z) * n + z * h[unit];
    }
}

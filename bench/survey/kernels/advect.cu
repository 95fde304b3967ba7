extern "C" __global__ void advect(const float *q, const float *u, const float *v, float *o, int w, int h, float dt) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int i = y * w + x;
    float px = fminf(fmaxf(x - dt * u[i], 0.5f), w - 1.5f), py = fminf(fmaxf(y - dt * v[i], 0.5f), h - 1.5f);
    int x0 = px, y0 = py;
    float s = px - x0, t = py - y0;
    const float *p = q + y0 * w + x0;
    o[i] = (1 - t) * ((1 - s) * p[0] + s * p[1]) + t * ((1 - s) * p[w] + s * p[w + 1]);
}

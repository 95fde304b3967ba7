// A step of the heat equation by alternating directions (Peaceman and Rachford): a tridiagonal system for each row,
// then one for each column; a thread solves one. `c` and `d` keep what the way forward gives.
extern "C" __global__ void sweep_x(const float *u, float *v, float *c, float *d, int w, int h, float r) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h)
        return;
    int up = y > 0 ? -w : 0, down = y < h - 1 ? w : 0, row = y * w;
    float b = 1.0f + 2.0f * r, last_c = 0.0f, last_d = 0.0f;
    for (int x = 0; x < w; x++) {
        int i = row + x;
        float right = u[i] + r * (u[i + up] - 2.0f * u[i] + u[i + down]);
        float m = 1.0f / (b + r * last_c);
        last_c = -r * m;
        last_d = (right + r * last_d) * m;
        c[i] = last_c;
        d[i] = last_d;
    }
    float value = 0.0f;
    for (int x = w - 1; x >= 0; x--) {
        value = d[row + x] - c[row + x] * value;
        v[row + x] = value;
    }
}

extern "C" __global__ void sweep_y(const float *v, float *u, float *c, float *d, int w, int h, float r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w)
        return;
    int left = x > 0 ? -1 : 0, right = x < w - 1 ? 1 : 0;
    float b = 1.0f + 2.0f * r, last_c = 0.0f, last_d = 0.0f;
    for (int y = 0; y < h; y++) {
        int i = y * w + x;
        float known = v[i] + r * (v[i + left] - 2.0f * v[i] + v[i + right]);
        float m = 1.0f / (b + r * last_c);
        last_c = -r * m;
        last_d = (known + r * last_d) * m;
        c[i] = last_c;
        d[i] = last_d;
    }
    float value = 0.0f;
    for (int y = h - 1; y >= 0; y--) {
        int i = y * w + x;
        value = d[i] - c[i] * value;
        u[i] = value;
    }
}

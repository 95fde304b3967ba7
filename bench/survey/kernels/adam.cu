extern "C" __global__ void adam(float *p, const float *g, float *m, float *v, int n, float lr, float b1, float b2, float eps, float c1, float c2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float d = g[i], a = b1 * m[i] + (1 - b1) * d, s = b2 * v[i] + (1 - b2) * d * d;
    m[i] = a;
    v[i] = s;
    p[i] -= lr * (a * c1) / (sqrtf(s * c2) + eps);
}

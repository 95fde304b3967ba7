extern "C" __global__ void lj(const float4 *__restrict__ p, const int *__restrict__ nb, float4 *f, int n,
                              int k, float rc2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 a = p[i];
    float fx = 0, fy = 0, fz = 0, e = 0;
    for (int j = 0; j < k; j++) {
        float4 b = p[nb[j * n + i]];
        float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z, r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < rc2) {
            float i2 = 1.0f / r2, i6 = i2 * i2 * i2, s = i2 * i6 * (48 * i6 - 24);
            fx += dx * s;
            fy += dy * s;
            fz += dz * s;
            e += 4 * i6 * (i6 - 1);
        }
    }
    f[i] = make_float4(fx, fy, fz, e);
}

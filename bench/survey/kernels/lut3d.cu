// Colours by a table of 17^3 colours, linear between its entries.
extern "C" __global__ void lut3d(const uchar4 *in, const float *table, uchar4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uchar4 p = in[i];
    float c[3] = {p.x * (16.0f / 255), p.y * (16.0f / 255), p.z * (16.0f / 255)}, f[3], sum[3] = {0, 0, 0};
    int at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = min((int)c[k], 15);
        f[k] = c[k] - at[k];
    }
    for (int corner = 0; corner < 8; corner++) {
        int r = at[0] + (corner & 1), g = at[1] + (corner >> 1 & 1), b = at[2] + (corner >> 2);
        float w = (corner & 1 ? f[0] : 1 - f[0]) * (corner & 2 ? f[1] : 1 - f[1]) * (corner & 4 ? f[2] : 1 - f[2]);
        const float *t = table + 3 * ((b * 17 + g) * 17 + r);
        for (int k = 0; k < 3; k++)
            sum[k] += w * t[k];
    }
    out[i] = make_uchar4((unsigned char)(sum[0] * 255 + 0.5f), (unsigned char)(sum[1] * 255 + 0.5f),
                         (unsigned char)(sum[2] * 255 + 0.5f), p.w);
}

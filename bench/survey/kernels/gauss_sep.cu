__constant__ float kw[9] = {0.05f, 0.09f, 0.12f, 0.15f, 0.18f, 0.15f, 0.12f, 0.09f, 0.05f};

extern "C" __global__ void rows(const float *in, float *out, int w, int h) {
    __shared__ float t[4][64 + 8];
    int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    for (int k = threadIdx.x; k < 72; k += 64) {
        int gx = blockIdx.x * 64 + k - 4;
        t[threadIdx.y][k] = gx >= 0 && gx < w ? in[y * w + gx] : 0.f;
    }
    __syncthreads();
    float s = 0;
#pragma unroll
    for (int k = 0; k < 9; k++)
        s += kw[k] * t[threadIdx.y][threadIdx.x + k];
    if (x < w)
        out[y * w + x] = s;
}

extern "C" __global__ void cols(const float *in, float *out, int w, int h) {
    __shared__ float t[16 + 8][32];
    int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 16;
    for (int k = threadIdx.y; k < 24; k += 8) {
        int gy = y0 + k - 4;
        t[k][threadIdx.x] = gy >= 0 && gy < h ? in[gy * w + x] : 0.f;
    }
    __syncthreads();
    for (int r = threadIdx.y; r < 16; r += 8) {
        float s = 0;
#pragma unroll
        for (int k = 0; k < 9; k++)
            s += kw[k] * t[r + k][threadIdx.x];
        if (y0 + r < h)
            out[(y0 + r) * w + x] = s;
    }
}

// Deriche's recursive smoothing: a thread goes along a row there and back, then others go along columns.
struct Deriche {
    float a1, a2, a3, a4, a5, a6, a7, a8, b1, b2, c1, c2;
};

extern "C" __global__ void deriche_rows(const float *__restrict__ img, float *__restrict__ y1,
                                        float *__restrict__ out, int w, int h, Deriche k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= h)
        return;
    float ym1 = 0.0f, ym2 = 0.0f, xm1 = 0.0f;
    for (int j = 0; j < w; j++) {
        float x = img[i * w + j];
        float y = k.a1 * x + k.a2 * xm1 + k.b1 * ym1 + k.b2 * ym2;
        y1[i * w + j] = y;
        xm1 = x;
        ym2 = ym1;
        ym1 = y;
    }
    float yp1 = 0.0f, yp2 = 0.0f, xp1 = 0.0f, xp2 = 0.0f;
    for (int j = w - 1; j >= 0; j--) {
        float y = k.a3 * xp1 + k.a4 * xp2 + k.b1 * yp1 + k.b2 * yp2;
        xp2 = xp1;
        xp1 = img[i * w + j];
        yp2 = yp1;
        yp1 = y;
        out[i * w + j] = k.c1 * (y1[i * w + j] + y);
    }
}

extern "C" __global__ void deriche_columns(const float *__restrict__ img, float *__restrict__ y1,
                                           float *__restrict__ out, int w, int h, Deriche k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= w)
        return;
    float tm1 = 0.0f, ym1 = 0.0f, ym2 = 0.0f;
    for (int i = 0; i < h; i++) {
        float t = img[i * w + j];
        float y = k.a5 * t + k.a6 * tm1 + k.b1 * ym1 + k.b2 * ym2;
        y1[i * w + j] = y;
        tm1 = t;
        ym2 = ym1;
        ym1 = y;
    }
    float tp1 = 0.0f, tp2 = 0.0f, yp1 = 0.0f, yp2 = 0.0f;
    for (int i = h - 1; i >= 0; i--) {
        float y = k.a7 * tp1 + k.a8 * tp2 + k.b1 * yp1 + k.b2 * yp2;
        tp2 = tp1;
        tp1 = img[i * w + j];
        yp2 = yp1;
        yp1 = y;
        out[i * w + j] = k.c2 * (y1[i * w + j] + y);
    }
}

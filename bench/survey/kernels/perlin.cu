__device__ __forceinline__ float fade(float t) {
    return t * t * t * (t * (t * 6 - 15) + 10);
}

__device__ __forceinline__ float grad(int h, float x, float y) {
    switch (h & 3) {
    case 0:
        return x + y;
    case 1:
        return -x + y;
    case 2:
        return x - y;
    default:
        return -x - y;
    }
}

extern "C" __global__ void perlin(const int *p, float *o, int w, int h, float f) {
    int ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ix >= w || iy >= h)
        return;
    float s = 0, amp = 1, fr = f;
    for (int k = 0; k < 4; k++) {
        float x = ix * fr, y = iy * fr;
        int X = (int)floorf(x), Y = (int)floorf(y);
        x -= X;
        y -= Y;
        X &= 255;
        Y &= 255;
        float u = fade(x), v = fade(y);
        int A = p[X] + Y, B = p[X + 1] + Y;
        float a = grad(p[A], x, y), b = grad(p[B], x - 1, y), c = grad(p[A + 1], x, y - 1),
              d = grad(p[B + 1], x - 1, y - 1);
        float l = a + u * (b - a), m = c + u * (d - c);
        s += amp * (l + v * (m - l));
        amp *= 0.5f;
        fr *= 2;
    }
    o[iy * w + ix] = s;
}

extern "C" __global__ void rope(float *q, const float *cosines, const float *sines, int heads, int dim, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, half = dim / 2;
    if (i >= n * heads * half)
        return;
    int j = i % half, h = i / half % heads, t = i / (half * heads);
    float *p = q + (t * heads + h) * dim + j;
    float a = p[0], b = p[half], c = cosines[t * half + j], s = sines[t * half + j];
    p[0] = a * c - b * s;
    p[half] = a * s + b * c;
}

extern "C" __global__ void hough(const unsigned char *e, const float *c, const float *s, int *votes, int w, int h, int angles, int bins) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h || !e[y * w + x])
        return;
    for (int k = 0; k < angles; k++)
        atomicAdd(&votes[k * bins + (int)(x * c[k] + y * s[k]) + bins / 2], 1);
}

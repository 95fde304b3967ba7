// The eikonal equation by fast sweeping: from each of four corners over the grid, a launch for each diagonal, whose
// cells do not need each other. Cells that are a start stay as they are.
__device__ float arrival(float a, float b, float fh) {
    // |grad t| = f from the lesser neighbours along x and y
    if (fabsf(a - b) >= fh)
        return fminf(a, b) + fh;
    float d = a - b;
    return 0.5f * (a + b + sqrtf(2.0f * fh * fh - d * d));
}

extern "C" __global__ void sweep_diagonal(float *t, const float *slowness, const unsigned char *start, int nx, int ny,
                                          float h, int diagonal, int from_right, int from_below) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int x = max(0, diagonal - ny + 1) + k, y = diagonal - x;
    if (x >= nx || y < 0)
        return;
    if (from_right)
        x = nx - 1 - x;
    if (from_below)
        y = ny - 1 - y;
    int p = y * nx + x;
    if (start[p])
        return;
    const float far = 1e10f;
    float left = x > 0 ? t[p - 1] : far, right = x < nx - 1 ? t[p + 1] : far;
    float above = y > 0 ? t[p - nx] : far, below = y < ny - 1 ? t[p + nx] : far;
    float found = arrival(fminf(left, right), fminf(above, below), slowness[p] * h);
    if (found < t[p])
        t[p] = found;
}

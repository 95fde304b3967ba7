// A step of a wave in a plane: its ends are fixed left and right, reflect above, and let waves out below.
extern "C" __global__ void wave_bc(const float *u, const float *before, float *next, int w, int h, float c) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int i = y * w + x;
    float mid = u[i];
    if (x == 0 || x == w - 1) {
        next[i] = 0.0f;
    } else if (y == h - 1) {
        next[i] = mid + c * (u[i - w] - mid);
    } else {
        float up = y == 0 ? u[i + w] : u[i - w];
        next[i] = 2.0f * mid - before[i] + c * c * (u[i - 1] + u[i + 1] + up + u[i + w] - 4.0f * mid);
    }
}

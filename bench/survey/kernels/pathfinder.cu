#define B 256
extern "C" __global__ void path(const int *wall, const int *src, int *dst, int cols, int start, int steps) {
    __shared__ int prev[B], next[B];
    int t = threadIdx.x, edge = steps, x = blockIdx.x * (B - 2 * edge) + t - edge;
    bool in = x >= 0 && x < cols;
    prev[t] = in ? src[x] : 1 << 29;
    __syncthreads();
    bool done = false;
    for (int i = 0; i < steps; i++) {
        done = false;
        if (t >= i + 1 && t <= B - 2 - i && in) {
            done = true;
            int l = x == 0 ? 1 << 29 : prev[t - 1], r = x == cols - 1 ? 1 << 29 : prev[t + 1];
            next[t] = min(min(l, r), prev[t]) + wall[cols * (start + i) + x];
        }
        __syncthreads();
        if (i == steps - 1)
            break;
        if (done)
            prev[t] = next[t];
        __syncthreads();
    }
    if (done && t >= edge && t < B - edge)
        dst[x] = next[t];
}

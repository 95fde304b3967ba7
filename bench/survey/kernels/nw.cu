#define T 32

extern "C" __global__ void nw(int *m, const signed char *a, const signed char *b, int n, int step,
                              int first) {
    // tile (bx, by) with bx+by==step
    __shared__ int t[T + 1][T + 1];
    int bx = first + blockIdx.x, by = step - bx, tid = threadIdx.x, w = n + 1;
    int base = (by * T) * w + bx * T;
    t[0][tid + 1] = m[base + tid + 1];
    t[tid + 1][0] = m[base + (tid + 1) * w];
    if (tid == 0)
        t[0][0] = m[base];
    int ca = a[by * T + tid];
    __syncthreads();
    for (int s = 0; s < 2 * T - 1; s++) {
        int x = s - tid;
        if (x >= 0 && x < T) {
            int v = t[tid][x] + (ca == b[bx * T + x] ? 3 : -2);
            v = max(v, t[tid][x + 1] - 1);
            v = max(v, t[tid + 1][x] - 1);
            t[tid + 1][x + 1] = v;
        }
        __syncthreads();
    }
    for (int r = 0; r < T; r++)
        m[base + (r + 1) * w + tid + 1] = t[r + 1][tid + 1];
}

// Local alignment of a pair of strings of 256 letters for each CTA, diagonal by diagonal.
#define N 256

extern "C" __global__ void align_diagonals(const char *a, const char *b, int *best) {
    __shared__ short h[3][N + 1];
    __shared__ char other[N];
    __shared__ int most;
    int t = threadIdx.x;
    char mine = a[blockIdx.x * N + t];
    other[t] = b[blockIdx.x * N + t];
    for (int k = 0; k < 3; k++)
        h[k][t + 1] = 0;
    if (t == 0) {
        most = 0;
        h[0][0] = h[1][0] = h[2][0] = 0;
    }
    __syncthreads();
    int top = 0;
    for (int d = 0; d < 2 * N - 1; d++) {
        short *now = h[d % 3], *last = h[(d + 2) % 3], *before = h[(d + 1) % 3];
        int j = d - t;
        if (j >= 0 && j < N) {
            int v = before[t] + (mine == other[j] ? 2 : -1);
            v = max(v, max(last[t] - 1, last[t + 1] - 1));
            v = max(v, 0);
            now[t + 1] = v;
            top = max(top, v);
        } else
            now[t + 1] = 0;
        __syncthreads();
    }
    atomicMax(&most, top);
    __syncthreads();
    if (t == 0)
        best[blockIdx.x] = most;
}

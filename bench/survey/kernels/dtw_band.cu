// Dynamic time warping of many series against one query with a Sakoe-Chiba band: a block for each series, a cell of an
// anti-diagonal for each thread, three diagonals in shared memory; early abandoning by the best known distance.
extern "C" __global__ void dtw_band(const float *__restrict__ series, const float *__restrict__ query,
                                    const float *__restrict__ bound, float *__restrict__ distance, int length,
                                    int radius) {
    extern __shared__ float shared[];
    float *x = shared, *y = x + length;
    const int width = 2 * radius + 3;
    float *diag[3] = {y + length, y + length + width, y + length + 2 * width};
    const int tid = threadIdx.x;
    const float *mine = series + (size_t)blockIdx.x * length;
    for (int i = tid; i < length; i += blockDim.x) {
        x[i] = query[i];
        y[i] = mine[i];
    }
    for (int i = tid; i < width; i += blockDim.x)
        diag[0][i] = diag[1][i] = diag[2][i] = INFINITY;
    __syncthreads();
    const float abandon = bound[blockIdx.x];
    // a cell (i, j) with i + j = d lies at place i - j + radius + 1 of its diagonal
    for (int d = 0; d <= 2 * length - 2; d++) {
        float *now = diag[d % 3];
        const float *one = diag[(d + 2) % 3], *two = diag[(d + 1) % 3];
        bool alive = false;
        for (int k = tid; k < 2 * radius + 1; k += blockDim.x) {
            int difference = k - radius;
            float value = INFINITY;
            if (((d + difference) & 1) == 0) {
                int i = (d + difference) / 2, j = d - i;
                if (i >= 0 && j >= 0 && i < length && j < length && d + difference >= 0) {
                    float gap = x[i] - y[j];
                    float best = fminf(two[k + 1], fminf(one[k], one[k + 2]));
                    if (d == 0)
                        best = 0.0f;
                    value = fmaf(gap, gap, best);
                    alive |= value <= abandon;
                }
            }
            now[k + 1] = value;
        }
        // two diagonals in turn without a cell below the bound: none can come (looked at every 16th pair)
        if ((d & 31) < 30)
            __syncthreads();
        else if (!__syncthreads_or(alive)) {
            if (d & 1) {
                bool before = false;
                for (int k = tid; k < 2 * radius + 1; k += blockDim.x)
                    before |= one[k + 1] <= abandon;
                if (!__syncthreads_or(before)) {
                    if (tid == 0)
                        distance[blockIdx.x] = -1.0f;
                    return;
                }
            }
        }
    }
    if (tid == 0) {
        float all = diag[(2 * length - 2) % 3][radius + 1];
        distance[blockIdx.x] = all <= abandon ? sqrtf(all) : -1.0f;
    }
}

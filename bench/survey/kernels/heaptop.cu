// The eight least distances of each query by a heap in the thread's own memory; points in shared memory, tile by tile.
#define K 8
extern "C" __global__ void heaptop(const float2 *__restrict__ q, const float2 *__restrict__ p, float *__restrict__ out, int queries, int points) {
    __shared__ float2 tile[128];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float2 own = t < queries ? q[t] : make_float2(0, 0);
    float heap[K];
    for (int k = 0; k < K; k++)
        heap[k] = 1e30f;
    for (int b = 0; b < points; b += 128) {
        if (b + threadIdx.x < points)
            tile[threadIdx.x] = p[b + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < min(128, points - b); j++) {
            float dx = own.x - tile[j].x, dy = own.y - tile[j].y, d = dx * dx + dy * dy;
            if (d < heap[0]) {
                int i = 0;
                while (true) {
                    int c = 2 * i + 1;
                    if (c >= K)
                        break;
                    if (c + 1 < K && heap[c + 1] > heap[c])
                        c++;
                    if (heap[c] <= d)
                        break;
                    heap[i] = heap[c];
                    i = c;
                }
                heap[i] = d;
            }
        }
        __syncthreads();
    }
    if (t < queries) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += heap[k];
        out[t] = sum;
    }
}

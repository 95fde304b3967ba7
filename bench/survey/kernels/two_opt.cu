// The best exchange of two edges of a tour: cities in shared memory, least of a CTA by shuffles.
#define N 512

extern "C" __global__ void two_opt(const float2 *city, float *gain, int *where) {
    __shared__ float2 p[N];
    __shared__ float best[8];
    __shared__ int at[8];
    const float2 *mine = city + blockIdx.x * N;
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        p[i] = mine[i];
    __syncthreads();
    float least = 0;
    int found = 0;
    for (int i = threadIdx.x; i < N - 2; i += blockDim.x) {
        float2 a = p[i], b = p[i + 1];
        float ab = sqrtf((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
        for (int j = i + 2; j < N - 1; j++) {
            float2 c = p[j], d = p[j + 1];
            float cd = sqrtf((c.x - d.x) * (c.x - d.x) + (c.y - d.y) * (c.y - d.y));
            float ac = sqrtf((a.x - c.x) * (a.x - c.x) + (a.y - c.y) * (a.y - c.y));
            float bd = sqrtf((b.x - d.x) * (b.x - d.x) + (b.y - d.y) * (b.y - d.y));
            float change = ac + bd - ab - cd;
            if (change < least) {
                least = change;
                found = i * N + j;
            }
        }
    }
    for (int o = 16; o > 0; o >>= 1) {
        float other = __shfl_down_sync(0xffffffffu, least, o);
        int place = __shfl_down_sync(0xffffffffu, found, o);
        if (other < least || (other == least && place < found)) {
            least = other;
            found = place;
        }
    }
    if (threadIdx.x % 32 == 0) {
        best[threadIdx.x / 32] = least;
        at[threadIdx.x / 32] = found;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            if (best[k] < least || (best[k] == least && at[k] < found)) {
                least = best[k];
                found = at[k];
            }
        gain[blockIdx.x] = least;
        where[blockIdx.x] = found;
    }
}

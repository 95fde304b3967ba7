// Warps with roles: two fill buffers in shared memory, four use them; each buffer has a barrier of its own for
// "full" and one for "empty".
constexpr int WORDS = 256, FILLING = 64, THREADS = 192;

__device__ __forceinline__ void wait(int barrier) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(THREADS) : "memory");
}

__device__ __forceinline__ void tell(int barrier) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(THREADS) : "memory");
}

extern "C" __global__ void fill_use(const float *__restrict__ in, const float *__restrict__ weights, float *__restrict__ out, int tiles) {
    __shared__ float buffers[2][WORDS];
    const float *tile = in + blockIdx.x * tiles * WORDS;
    if (threadIdx.x < FILLING) {
        for (int k = 0; k < tiles; k++, tile += WORDS) {
            int which = k & 1;
            if (k > 1)
                wait(3 + which);
            for (int i = threadIdx.x; i < WORDS; i += FILLING)
                buffers[which][i] = tile[i];
            __threadfence_block();
            tell(1 + which);
        }
        return;
    }
    int t = threadIdx.x - FILLING;
    float sum = 0;
    for (int k = 0; k < tiles; k++) {
        int which = k & 1;
        wait(1 + which);
        sum += buffers[which][t] * weights[t] + buffers[which][t + 128] * weights[(t + 1) & 127] + buffers[which][(t * 5) & 255];
        if (k + 2 < tiles)
            tell(3 + which);
    }
    out[blockIdx.x * 128 + t] = sum;
}

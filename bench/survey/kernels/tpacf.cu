// Angular correlation of galaxies: angles of all pairs (of one catalogue with itself or with another one) are counted
// in bins found by bisection of their cosines; each warp has counters of its own.
#define THREADS 256
#define WARPS (THREADS / 32)
#define BINS 20

// cosines of 10^(0.25 k) arc minutes
__constant__ float bounds[BINS + 1] = {
    1.0f,           0.99999995769f, 0.99999986620f, 0.99999957690f, 0.99999866202f, 0.99999576897f, 0.99998662018f,
    0.99995768969f, 0.99986620465f, 0.99957691872f, 0.99866231694f, 0.99577230979f, 0.98665098219f, 0.95796424946f,
    0.86879400671f, 0.60432821f,    0.2f,           -0.2f,          -0.6f,          -0.9f,          -1.01f,
};

extern "C" __global__ void __launch_bounds__(THREADS)
    tpacf(const float *__restrict__ xa, const float *__restrict__ ya, const float *__restrict__ za, int na,
          const float *__restrict__ xb, const float *__restrict__ yb, const float *__restrict__ zb, int nb,
          unsigned long long *__restrict__ histogram, int same) {
    __shared__ unsigned int counts[BINS][WARPS];
    __shared__ float tx[THREADS], ty[THREADS], tz[THREADS];
    int tid = threadIdx.x, warp = tid / 32;
    for (int k = tid; k < BINS * WARPS; k += THREADS)
        (&counts[0][0])[k] = 0;

    int i = blockIdx.x * THREADS + tid;
    bool real = i < na;
    float x = 0.0f, y = 0.0f, z = 0.0f;
    if (real) {
        x = xa[i];
        y = ya[i];
        z = za[i];
    }
    // of one catalogue each pair is counted once
    for (int base = same ? blockIdx.x * THREADS : 0; base < nb; base += THREADS) {
        __syncthreads();
        if (base + tid < nb) {
            tx[tid] = xb[base + tid];
            ty[tid] = yb[base + tid];
            tz[tid] = zb[base + tid];
        }
        __syncthreads();
        if (!real)
            continue;
        int size = min(THREADS, nb - base);
        for (int j = 0; j < size; j++) {
            if (same && base + j <= i)
                continue;
            float d = x * tx[j] + y * ty[j] + z * tz[j];
            int low = 0, high = BINS;
            while (high > low + 1) {
                int middle = (low + high) / 2;
                if (d >= bounds[middle])
                    high = middle;
                else
                    low = middle;
            }
            atomicAdd(&counts[low][warp], 1u);
        }
    }
    __syncthreads();
    if (tid < BINS) {
        unsigned long long total = 0;
        for (int w = 0; w < WARPS; w++)
            total += counts[tid][w];
        if (total)
            atomicAdd(&histogram[tid], total);
    }
}

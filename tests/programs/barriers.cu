// Barriers with numbers, counts and reductions; producers that only arrive; waits that cannot end.
extern "C" __global__ void reductions(int *out, int limit)
{
    int t = threadIdx.x;
    int count = __syncthreads_count(t * 7 % 3 == 1);
    int any = __syncthreads_or(t == limit);
    int all = __syncthreads_and(t < limit);
    int result = count * 4 + (any != 0) * 2 + (all != 0);
    for (int i = 0; i < 3; ++i)
        if (__syncthreads_count(t < i * 40) > 50)
            result += 1000;
    out[blockIdx.x * blockDim.x + t] = result;
}

// Warps 0 and 1 produce and only arrive; warps 2 and 3 wait for them at barrier 1.
extern "C" __global__ void producers(int *out)
{
    __shared__ int stage[64];
    int t = threadIdx.x;
    if (t < 64) {
        stage[t] = 3 * t;
        __threadfence_block();
        asm volatile("bar.arrive 1, 128;" ::: "memory");
        out[t] = 1;
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        out[t] = stage[t - 64];
    }
    __syncthreads();
    if (t >= 96)
        asm volatile("bar.sync 5, 32;");
    out[t] += stage[(t + 1) % 64];
}

extern "C" __global__ void computed(int *out, int number)
{
    asm volatile("bar.sync %0, 64;" ::"r"(number));
    out[threadIdx.x] = number;
}

extern "C" __global__ void deadlock(int *out)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 2, 64;");
    out[threadIdx.x] = 1;
}

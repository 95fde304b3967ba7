// Atomic operations beyond counting, and loops that wait for each other.
extern "C" __global__ void atomic_kinds(const int *values, int *lowest, int *highest, unsigned *bits_and,
                                        unsigned *bits_or, unsigned *bits_xor, float *sum, unsigned long long *wide, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = values[i];
    atomicMin(lowest, v);
    atomicMax(highest, v);
    atomicAnd(bits_and, (unsigned)v);
    atomicOr(bits_or, (unsigned)v);
    atomicXor(bits_xor, (unsigned)v);
    atomicAdd(sum, (float)(v % 16));
    atomicAdd(wide, (unsigned long long)(unsigned)v << 20);
}

// A product by compare-and-swap: every thread retries until nobody came between.
extern "C" __global__ void multiply_all(const unsigned *factors, unsigned *product, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned seen = *product, assumed;
    do {
        assumed = seen;
        seen = atomicCAS(product, assumed, assumed * factors[i]);
    } while (seen != assumed);
}

// Takes a number from a shared counter: the old values must be all different.
extern "C" __global__ void take_tickets(unsigned *counter, unsigned *tickets, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        tickets[i] = atomicAdd(counter, 1u);
}

// One lock for all threads: lanes of a warp wait for each other (compute capability 7.0 or later).
extern "C" __global__ void locked_counter(int *lock, volatile int *counter, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0);
}

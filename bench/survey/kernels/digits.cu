// Digits of numbers counted by each thread in an array of its own.
extern "C" __global__ void digits(const unsigned *in, unsigned *counts, int n) {
    unsigned mine[16];
    for (int k = 0; k < 16; k++)
        mine[k] = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        for (unsigned v = in[i]; v; v >>= 4)
            mine[v & 15]++;
    for (int k = 0; k < 16; k++)
        atomicAdd(&counts[k], mine[k]);
}

// A saxpy with consecutive words for each thread, as one parallelises for a CPU.
extern "C" __global__ void chunk_saxpy(const float *x, float *y, float a, int n, int length) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * length, end = min(n, first + length);
    for (int i = first; i < end; i++)
        y[i] = a * x[i] + y[i];
}

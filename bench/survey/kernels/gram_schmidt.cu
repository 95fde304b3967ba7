// Modified Gram-Schmidt of a matrix that is stored column after column, in double: for each column a launch that
// brings it to length 1, and one that takes its part out of the columns that follow, a CTA for each.
#define THREADS 128

__device__ double sum_of_block(double v) {
    __shared__ double part[THREADS];
    int t = threadIdx.x;
    part[t] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    return part[0];
}

extern "C" __global__ void normalise(double *a, double *r, int m, int n, int k) {
    double *column = a + (size_t)k * m, sum = 0.0;
    for (int i = threadIdx.x; i < m; i += blockDim.x)
        sum += column[i] * column[i];
    double length = sqrt(sum_of_block(sum));
    if (threadIdx.x == 0)
        r[(size_t)k * n + k] = length;
    for (int i = threadIdx.x; i < m; i += blockDim.x)
        column[i] /= length;
}

extern "C" __global__ void take_out(double *a, double *r, int m, int n, int k) {
    int j = k + 1 + blockIdx.x;
    const double *q = a + (size_t)k * m;
    double *column = a + (size_t)j * m, dot = 0.0;
    for (int i = threadIdx.x; i < m; i += blockDim.x)
        dot += q[i] * column[i];
    dot = sum_of_block(dot);
    if (threadIdx.x == 0)
        r[(size_t)k * n + j] = dot;
    for (int i = threadIdx.x; i < m; i += blockDim.x)
        column[i] -= dot * q[i];
}

__inline__ __device__ double bsum(double v, double *s) {
    for (int o = 16; o; o >>= 1)
        v += __shfl_down_sync(~0u, v, o);
    if ((threadIdx.x & 31) == 0)
        s[threadIdx.x >> 5] = v;
    __syncthreads();
    v = threadIdx.x < 8 ? s[threadIdx.x] : 0;
    if (threadIdx.x < 32)
        for (int o = 4; o; o >>= 1)
            v += __shfl_down_sync(~0u, v, o);
    return v;
}

extern "C" __global__ void ap(const double *p, double *q, double *dot, int n) {
    __shared__ double s[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = 0;
    if (i < n) {
        double a = p[i];
        double r = 4 * a;
        if (i > 0)
            r -= p[i - 1];
        if (i < n - 1)
            r -= p[i + 1];
        q[i] = r;
        v = a * r;
    }
    v = bsum(v, s);
    if (threadIdx.x == 0)
        atomicAdd(dot, v);
}

extern "C" __global__ void up(double *x, double *r, const double *p, const double *q, const double *dot,
                              double rr, double *rn, int n) {
    __shared__ double s[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = 0, al = rr / dot[0];
    if (i < n) {
        x[i] += al * p[i];
        double t = r[i] - al * q[i];
        r[i] = t;
        v = t * t;
    }
    v = bsum(v, s);
    if (threadIdx.x == 0)
        atomicAdd(rn, v);
}

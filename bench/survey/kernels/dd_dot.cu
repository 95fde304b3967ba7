// A dot product in double-double arithmetic: a class with overloaded operators, shuffles of pairs, and the block that
// is the last to finish adds up what the others found.
struct dd {
    double hi, lo;
    __device__ dd(double h = 0.0, double l = 0.0) : hi(h), lo(l) {}
};

__device__ __forceinline__ dd two_sum(double a, double b) {
    double s = __dadd_rn(a, b);
    double bb = __dadd_rn(s, -a);
    double e = __dadd_rn(__dadd_rn(a, -__dadd_rn(s, -bb)), __dadd_rn(b, -bb));
    return dd(s, e);
}

__device__ __forceinline__ dd quick_two_sum(double a, double b) {
    double s = __dadd_rn(a, b);
    return dd(s, __dadd_rn(b, -__dadd_rn(s, -a)));
}

__device__ __forceinline__ dd two_prod(double a, double b) {
    double p = __dmul_rn(a, b);
    return dd(p, __fma_rn(a, b, -p));
}

__device__ __forceinline__ dd operator+(const dd &a, const dd &b) {
    dd s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
    s = quick_two_sum(s.hi, __dadd_rn(s.lo, t.hi));
    return quick_two_sum(s.hi, __dadd_rn(s.lo, t.lo));
}

__device__ __forceinline__ dd &operator+=(dd &a, const dd &b) { return a = a + b; }

__device__ dd warp_sum(dd v) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        dd other(__shfl_down_sync(0xffffffff, v.hi, offset), __shfl_down_sync(0xffffffff, v.lo, offset));
        v += other;
    }
    return v;
}

__device__ dd block_sum(dd v) {
    __shared__ double hi[32], lo[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    v = warp_sum(v);
    __syncthreads();
    if (lane == 0) {
        hi[warp] = v.hi;
        lo[warp] = v.lo;
    }
    __syncthreads();
    if (warp == 0) {
        int warps = (blockDim.x + warpSize - 1) / warpSize;
        v = lane < warps ? dd(hi[lane], lo[lane]) : dd();
        v = warp_sum(v);
    }
    return v;
}

extern "C" __global__ void dd_dot(const double *__restrict__ x, const double *__restrict__ y, volatile double2 *partial,
                                  unsigned *finished, double2 *result, long long n) {
    __shared__ bool last;
    dd sum;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        sum += two_prod(x[i], y[i]);
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x].x = sum.hi;
        partial[blockIdx.x].y = sum.lo;
        __threadfence();
        last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    dd total;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x)
        total += dd(partial[i].x, partial[i].y);
    total = block_sum(total);
    if (threadIdx.x == 0)
        *result = make_double2(total.hi, total.lo);
}

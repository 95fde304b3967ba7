// The greatest of each group of floats, by a loop of compare-and-swap as before there were better ways.
__device__ float atomic_max(float *p, float v) {
    int *q = (int *)p, old = *q, seen;
    do {
        seen = old;
        if (__int_as_float(seen) >= v)
            break;
        old = atomicCAS(q, seen, __float_as_int(v));
    } while (old != seen);
    return __int_as_float(old);
}

extern "C" __global__ void group_max(const float *__restrict__ v, const int *__restrict__ group, float *most, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomic_max(most + group[i], v[i]);
}

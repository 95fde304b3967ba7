extern "C" __global__ void compact(const int *in, int *out, int *cnt, int n, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x & 31;
    int v = i < n ? in[i] : 0;
    bool p = i < n && v > limit;
    unsigned b = __ballot_sync(~0u, p);
    int base = 0;
    if (l == 0 && b)
        base = atomicAdd(cnt, __popc(b));
    base = __shfl_sync(~0u, base, 0);
    if (p)
        out[base + __popc(b & ((1u << l) - 1))] = v;
}

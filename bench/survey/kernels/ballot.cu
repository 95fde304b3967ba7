extern "C" __global__ void flags(const int *a, unsigned *bits, int *counts, int n, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned m = __ballot_sync(~0u, i < n && a[i] > limit);
    if ((threadIdx.x & 31) == 0) {
        bits[i / 32] = m;
        counts[i / 32] = __popc(m);
    }
}

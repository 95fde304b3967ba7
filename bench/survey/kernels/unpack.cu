extern "C" __global__ void unpack(const unsigned *a, unsigned *o, int n, int bits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = i * bits, word = at >> 5, shift = at & 31;
    o[i] = __funnelshift_r(a[word], a[word + 1], shift) & ((1u << bits) - 1);
}

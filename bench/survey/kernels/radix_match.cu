extern "C" __global__ void rank(const unsigned *k, int *o, int *tot, int n) {
    __shared__ int h[8][256];
    int l = threadIdx.x & 31, w = threadIdx.x >> 5;
    for (int i = l; i < 256; i += 32)
        h[w][i] = 0;
    __syncwarp();
    int base = (blockIdx.x * 8 + w) * 1024;
    for (int t = 0; t < 1024; t += 32) {
        unsigned d = k[base + t + l] & 255;
        unsigned m = __match_any_sync(~0u, d);
        int lead = __ffs(m) - 1;
        int r = 0;
        if (l == lead) {
            r = h[w][d];
            h[w][d] = r + __popc(m);
        }
        __syncwarp();
        r = __shfl_sync(~0u, r, lead);
        o[base + t + l] = r + __popc(m & ((1u << l) - 1));
    }
    for (int i = l; i < 256; i += 32)
        tot[(blockIdx.x * 8 + w) * 256 + i] = h[w][i];
}

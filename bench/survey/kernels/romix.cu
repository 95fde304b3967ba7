// scrypt-like mixing: each thread fills its 16 KB with words of 16 bytes, then reads them in an order of its own.
extern "C" __global__ void romix(const uint4 *__restrict__ in, uint4 *__restrict__ out, uint4 *__restrict__ pad, int n, int places) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    uint4 x = in[t], *v = pad + (size_t)t * places;
    for (int i = 0; i < places; i++) {
        v[i] = x;
        x.x += x.y * 2654435761u, x.y ^= x.x >> 15, x.z += x.x ^ x.w, x.w = __funnelshift_l(x.w ^ x.z, x.w ^ x.z, 7);
    }
    for (int i = 0; i < places; i++) {
        uint4 y = v[x.w & (places - 1)];
        x.x ^= y.x, x.y ^= y.y, x.z ^= y.z, x.w ^= y.w;
        x.x += x.y * 2654435761u, x.y ^= x.x >> 15, x.z += x.x ^ x.w, x.w = __funnelshift_l(x.w ^ x.z, x.w ^ x.z, 7);
    }
    out[t] = x;
}

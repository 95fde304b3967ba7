#define ROT(x, n) (((x) << n) | ((x) >> (32 - n)))

extern "C" __global__ void xx(const uint4 *d, unsigned *o, int n, unsigned seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned P1 = 2654435761u, P2 = 2246822519u, P3 = 3266489917u;
    unsigned a = seed + P1 + P2, b = seed + P2, c = seed, e = seed - P1;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint4 v = d[4 * i + k];
        a = ROT(a + v.x * P2, 13) * P1;
        b = ROT(b + v.y * P2, 13) * P1;
        c = ROT(c + v.z * P2, 13) * P1;
        e = ROT(e + v.w * P2, 13) * P1;
    }
    unsigned h = ROT(a, 1) + ROT(b, 7) + ROT(c, 12) + ROT(e, 18) + 64;
    h ^= h >> 15;
    h *= P2;
    h ^= h >> 13;
    h *= P3;
    h ^= h >> 16;
    o[i] = h;
}

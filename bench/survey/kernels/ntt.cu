typedef unsigned long long u64;
__device__ unsigned mulmod(unsigned a, unsigned b, unsigned p) { return (u64)a * b % p; }
extern "C" __global__ void pass(unsigned *d, const unsigned *w, int half, int step, unsigned p, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 2)
        return;
    int j = t % half, i = (t / half) * 2 * half + j;
    unsigned a = d[i], b = mulmod(d[i + half], w[j * step], p), s = a + b;
    d[i] = s >= p ? s - p : s;
    d[i + half] = a >= b ? a - b : a + p - b;
}

// Powers modulo an odd number of 64 bits, by Montgomery's products.
__device__ unsigned long long product(unsigned long long a, unsigned long long b, unsigned long long n,
                                      unsigned long long inverse) {
    unsigned long long high = __umul64hi(a, b), low = a * b, q = low * inverse, m = __umul64hi(q, n);
    return high >= m ? high - m : high - m + n;
}

extern "C" __global__ void modexp(const unsigned long long *base, unsigned long long *out, unsigned long long n,
                                  unsigned long long inverse, unsigned long long one, unsigned exponent,
                                  int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned long long x = base[i], r = one;
    for (unsigned e = exponent; e; e >>= 1) {
        if (e & 1)
            r = product(r, x, n, inverse);
        x = product(x, x, n, inverse);
    }
    out[i] = r;
}

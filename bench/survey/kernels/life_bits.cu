// The game of life, 32 cells a word, all words' neighbours summed by full adders (lop3); a torus.
__device__ unsigned xor3(unsigned a, unsigned b, unsigned c) {
    unsigned r;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

__device__ unsigned majority(unsigned a, unsigned b, unsigned c) {
    unsigned r;
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

extern "C" __global__ void life_bits(const unsigned *__restrict__ in, unsigned *__restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int left = x == 0 ? w - 1 : x - 1, right = x == w - 1 ? 0 : x + 1;
    unsigned ones[3], twos[3], me = 0;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const unsigned *row = in + ((y + h + k - 1) % h) * w;
        unsigned c = row[x], l = __funnelshift_l(row[left], c, 1), r = __funnelshift_r(c, row[right], 1);
        ones[k] = k == 1 ? l ^ r : xor3(l, c, r);
        twos[k] = k == 1 ? l & r : majority(l, c, r);
        if (k == 1)
            me = c;
    }
    unsigned one = xor3(ones[0], ones[1], ones[2]), carry = majority(ones[0], ones[1], ones[2]);
    unsigned two = xor3(twos[0], twos[1], twos[2]), four = majority(twos[0], twos[1], twos[2]);
    four |= two & carry;
    two ^= carry;
    out[y * w + x] = two & ~four & (one | me);
}

// Multiplication of points of Curve25519 by scalars, a thread for each (the Montgomery ladder, as in X25519). Numbers
// have ten limbs of 26 and 25 bits in turn.
struct Field {
    int limb[10];
};

__device__ __forceinline__ void add(Field &h, const Field &f, const Field &g) {
    for (int i = 0; i < 10; i++)
        h.limb[i] = f.limb[i] + g.limb[i];
}

__device__ __forceinline__ void subtract(Field &h, const Field &f, const Field &g) {
    for (int i = 0; i < 10; i++)
        h.limb[i] = f.limb[i] - g.limb[i];
}

// Rounds each limb to its bits, so that it is between minus and plus a half of them; the last carries to the first.
__device__ void reduce(Field &h, long long (&t)[10]) {
    for (int pass = 0; pass < 2; pass++) {
#pragma unroll
        for (int i = 0; i < 10; i++) {
            int bits = i & 1 ? 25 : 26;
            long long carry = (t[i] + (1ll << (bits - 1))) >> bits;
            t[i] -= carry << bits;
            if (i == 9)
                t[0] += 19 * carry;
            else
                t[i + 1] += carry;
        }
    }
    for (int i = 0; i < 10; i++)
        h.limb[i] = (int)t[i];
}

__device__ __noinline__ void multiply(Field &h, const Field &f, const Field &g) {
    long long t[10] = {0};
#pragma unroll
    for (int i = 0; i < 10; i++) {
#pragma unroll
        for (int j = 0; j < 10; j++) {
            long long product = (long long)f.limb[i] * g.limb[j];
            if (i & j & 1)
                product *= 2;
            if (i + j >= 10)
                t[i + j - 10] += 19 * product;
            else
                t[i + j] += product;
        }
    }
    reduce(h, t);
}

__device__ __forceinline__ void square(Field &h, const Field &f) {
    multiply(h, f, f);
}

__device__ void square_times(Field &h, const Field &f, int times) {
    square(h, f);
    for (int i = 1; i < times; i++)
        square(h, h);
}

__device__ __forceinline__ void multiply_small(Field &h, const Field &f, int factor) {
    long long t[10];
    for (int i = 0; i < 10; i++)
        t[i] = (long long)f.limb[i] * factor;
    reduce(h, t);
}

// To the power p - 2.
__device__ void invert(Field &out, const Field &z) {
    Field z2, z9, z11, z5, z10, z20, z50, z100, t;
    square(z2, z);
    square_times(t, z2, 2);
    multiply(z9, t, z);
    multiply(z11, z9, z2);
    square(t, z11);
    multiply(z5, t, z9);
    square_times(t, z5, 5);
    multiply(z10, t, z5);
    square_times(t, z10, 10);
    multiply(z20, t, z10);
    square_times(t, z20, 20);
    multiply(t, t, z20);
    square_times(t, t, 10);
    multiply(z50, t, z10);
    square_times(t, z50, 50);
    multiply(z100, t, z50);
    square_times(t, z100, 100);
    multiply(t, t, z100);
    square_times(t, t, 50);
    multiply(t, t, z50);
    square_times(t, t, 5);
    multiply(out, t, z11);
}

__device__ __forceinline__ void swap_if(Field &f, Field &g, int swap) {
    int mask = -swap;
    for (int i = 0; i < 10; i++) {
        int x = (f.limb[i] ^ g.limb[i]) & mask;
        f.limb[i] ^= x;
        g.limb[i] ^= x;
    }
}

__device__ __forceinline__ int bit_place(int limb) {
    return (51 * limb + 1) / 2;  // 0, 26, 51, 77, 102, ...
}

__device__ void from_words(Field &h, const unsigned int *words) {
    long long t[10];
    for (int i = 0; i < 10; i++) {
        int place = bit_place(i), bits = i & 1 ? 25 : 26;
        unsigned long long two = words[place >> 5];
        if ((place >> 5) < 7)
            two |= (unsigned long long)words[(place >> 5) + 1] << 32;
        t[i] = (long long)((two >> (place & 31)) & ((1u << bits) - 1));
    }
    reduce(h, t);
}

__device__ void to_words(unsigned int *words, const Field &f) {
    int h[10];
    for (int i = 0; i < 10; i++)
        h[i] = f.limb[i];
    // how many times p it holds
    int q = (19 * h[9] + (1 << 24)) >> 25;
    for (int i = 0; i < 10; i++)
        q = (h[i] + q) >> (i & 1 ? 25 : 26);
    h[0] += 19 * q;
    for (int i = 0; i < 10; i++) {
        int bits = i & 1 ? 25 : 26;
        int carry = h[i] >> bits;
        h[i] -= carry << bits;
        if (i < 9)
            h[i + 1] += carry;
    }
    for (int w = 0; w < 8; w++)
        words[w] = 0;
    for (int i = 0; i < 10; i++) {
        int place = bit_place(i);
        words[place >> 5] |= (unsigned int)h[i] << (place & 31);
        if ((place & 31) > 6 && (place >> 5) < 7)
            words[(place >> 5) + 1] |= (unsigned int)h[i] >> (32 - (place & 31));
    }
}

extern "C" __global__ void ladder25519(const unsigned int *__restrict__ scalars,
                                       const unsigned int *__restrict__ points, unsigned int *__restrict__ results,
                                       int n, int bits) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n)
        return;
    unsigned int scalar[8];
    for (int w = 0; w < 8; w++)
        scalar[w] = scalars[id * 8 + w];
    Field x1, x2 = {{1}}, z2 = {{0}}, x3, z3 = {{1}};
    from_words(x1, points + id * 8);
    x3 = x1;
    int swap = 0;
    for (int position = bits - 1; position >= 0; position--) {
        int bit = (scalar[position >> 5] >> (position & 31)) & 1;
        swap ^= bit;
        swap_if(x2, x3, swap);
        swap_if(z2, z3, swap);
        swap = bit;
        Field a, b, aa, bb, e, c, d, da, cb, t;
        add(a, x2, z2);
        subtract(b, x2, z2);
        add(c, x3, z3);
        subtract(d, x3, z3);
        multiply(da, d, a);
        multiply(cb, c, b);
        square(aa, a);
        square(bb, b);
        subtract(e, aa, bb);
        add(t, da, cb);
        square(x3, t);
        subtract(t, da, cb);
        square(t, t);
        multiply(z3, t, x1);
        multiply(x2, aa, bb);
        multiply_small(t, e, 121665);
        add(t, t, aa);
        multiply(z2, e, t);
    }
    swap_if(x2, x3, swap);
    swap_if(z2, z3, swap);
    Field inverse;
    invert(inverse, z2);
    multiply(x2, x2, inverse);
    to_words(results + id * 8, x2);
}

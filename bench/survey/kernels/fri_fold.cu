// The commit phase of FRI over BabyBear: values in the extension of degree four (x^4 = 11), Montgomery form, bit-reversed
// order; each layer is folded by a challenge to half; then pairs of all layers are opened for the queries.
struct Fp {
    static constexpr unsigned P = 2013265921u, INVERSE = 2281701377u;  // P * INVERSE = 1 mod 2^32
    unsigned v;

    static __device__ __forceinline__ Fp raw(unsigned v) {
        Fp f;
        f.v = v;
        return f;
    }
    __device__ __forceinline__ Fp operator+(Fp b) const {
        unsigned s = v + b.v;
        return raw(s >= P ? s - P : s);
    }
    __device__ __forceinline__ Fp operator-(Fp b) const { return raw(v >= b.v ? v - b.v : v + P - b.v); }
    __device__ __forceinline__ Fp operator*(Fp b) const {
        unsigned long long product = (unsigned long long)v * b.v;
        unsigned q = (unsigned)product * INVERSE;
        unsigned high = __umulhi(q, P), top = (unsigned)(product >> 32);
        return raw(top >= high ? top - high : top - high + P);
    }
};

struct __align__(16) Fp4 {
    Fp c[4];

    __device__ Fp4 operator+(const Fp4 &b) const {
        Fp4 r;
#pragma unroll
        for (int i = 0; i < 4; i++)
            r.c[i] = c[i] + b.c[i];
        return r;
    }
    __device__ Fp4 operator-(const Fp4 &b) const {
        Fp4 r;
#pragma unroll
        for (int i = 0; i < 4; i++)
            r.c[i] = c[i] - b.c[i];
        return r;
    }
    __device__ Fp4 scale(Fp s) const {
        Fp4 r;
#pragma unroll
        for (int i = 0; i < 4; i++)
            r.c[i] = c[i] * s;
        return r;
    }
    __device__ Fp4 times(const Fp4 &b, Fp eleven) const {
        Fp4 r;
        r.c[0] = c[0] * b.c[0] + eleven * (c[1] * b.c[3] + c[2] * b.c[2] + c[3] * b.c[1]);
        r.c[1] = c[0] * b.c[1] + c[1] * b.c[0] + eleven * (c[2] * b.c[3] + c[3] * b.c[2]);
        r.c[2] = c[0] * b.c[2] + c[1] * b.c[1] + c[2] * b.c[0] + eleven * (c[3] * b.c[3]);
        r.c[3] = c[0] * b.c[3] + c[1] * b.c[2] + c[2] * b.c[1] + c[3] * b.c[0];
        return r;
    }
};

// Half of the inverses of the domain's points: `powers[k]`: the generator's inverse to 2^k.
extern "C" __global__ void fri_points(const Fp *__restrict__ powers, Fp *__restrict__ points, Fp half, int bits) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1u << bits)
        return;
    unsigned exponent = __brev(i) >> (32 - bits);
    Fp x = half;
    for (int k = 0; k < bits; k++)
        if (exponent >> k & 1)
            x = x * powers[k];
    points[i] = x;
}

// All layers lie one after the other; the first has 2^bits values.
extern "C" __global__ void fri_fold(Fp4 *layers, const Fp *__restrict__ points, const Fp4 *__restrict__ challenges,
                                    Fp half, Fp eleven, int round, int bits) {
    const Fp4 *layer = layers;
    for (int r = 0; r < round; r++)
        layer += (size_t)1 << (bits - r);
    Fp4 *folded = const_cast<Fp4 *>(layer) + ((size_t)1 << (bits - round));
    const int count = 1 << (bits - round - 1);
    const Fp4 beta = challenges[round];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        Fp4 a = layer[2 * i], b = layer[2 * i + 1];
        Fp4 even = (a + b).scale(half), odd = (a - b).scale(points[i]);
        folded[i] = even + odd.times(beta, eleven);
    }
}

extern "C" __global__ void fri_open(const Fp4 *__restrict__ layers, const unsigned *__restrict__ queries,
                                    Fp4 *__restrict__ opened, int rounds, int bits) {
    int q = blockIdx.x;
    size_t offset = 0;
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x == r % 32) {
            unsigned at = queries[q] >> r;
            opened[(q * rounds + r) * 2] = layers[offset + at];
            opened[(q * rounds + r) * 2 + 1] = layers[offset + (at ^ 1)];
        }
        offset += (size_t)1 << (bits - r);
    }
}

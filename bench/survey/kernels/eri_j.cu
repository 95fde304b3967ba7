// The Coulomb matrix of quantum chemistry for s functions: integrals (ab|cd) by Boys' function F0 (a table with a
// Taylor series, or its asymptote), summed over the pairs cd of primitives with the density; pairs are sorted by
// Schwarz' bound, so that a block ends early. Then pairs are added into the matrix.
#define THREADS 128
#define TERMS 6
#define STEP 0.1
#define LAST 28.0

struct Pair {
    double x, y, z;  // centre
    double p;        // sum of exponents
    double k;        // prefactor with coefficients
    double bound;    // square root of (ab|ab)
    int a, b;
};

__device__ double boys0(double t, const double *__restrict__ table) {
    if (t >= LAST)
        return 0.88622692545275801 * rsqrt(t);
    const int row = (int)(t / STEP + 0.5);
    const double d = row * STEP - t;
    const double *f = table + row * TERMS;
    double sum = f[TERMS - 1];
#pragma unroll
    for (int m = TERMS - 2; m >= 0; m--)
        sum = f[m] + sum * d / (m + 1);
    return sum;
}

extern "C" __global__ void eri_density(const Pair *__restrict__ pairs, const double *__restrict__ density,
                                       double *__restrict__ pair_density, int n, int functions) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int a = pairs[i].a, b = pairs[i].b;
    pair_density[i] = (a == b ? 1.0 : 2.0) * density[a * functions + b];
}

extern "C" __global__ void __launch_bounds__(THREADS)
    eri_coulomb(const Pair *__restrict__ pairs, const double *__restrict__ pair_density,
                const double *__restrict__ table, double *__restrict__ pair_j, int n, double threshold) {
    __shared__ double sums[THREADS];
    const Pair bra = pairs[blockIdx.x];
    double sum = 0.0;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        const Pair ket = pairs[i];
        if (bra.bound * ket.bound < threshold)
            break;
        const double dx = bra.x - ket.x, dy = bra.y - ket.y, dz = bra.z - ket.z;
        const double total = bra.p + ket.p, product = bra.p * ket.p;
        const double t = product / total * (dx * dx + dy * dy + dz * dz);
        const double integral = 34.986836655249725 / (product * sqrt(total)) * bra.k * ket.k * boys0(t, table);
        sum += integral * pair_density[i];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        pair_j[blockIdx.x] = sums[0];
}

extern "C" __global__ void eri_add(const Pair *__restrict__ pairs, const double *__restrict__ pair_j,
                                   double *__restrict__ j, int n, int functions) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const Pair &pair = pairs[i];
    atomicAdd(&j[pair.a * functions + pair.b], pair_j[i]);
    if (pair.a != pair.b)
        atomicAdd(&j[pair.b * functions + pair.a], pair_j[i]);
}

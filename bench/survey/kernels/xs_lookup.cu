// Cross sections of neutrons in a reactor's materials: each lookup draws an energy and a material from a generator that
// jumps ahead to its place, and adds up the material's nuclides, each found in its own grid by bisection.
typedef struct {
    double energy, total, elastic, absorption, fission, nu_fission;
} GridPoint;

#define MATERIALS 12
#define MAX_NUCLIDES 40

__constant__ double material_share[MATERIALS] = {0.140, 0.052, 0.275, 0.134, 0.154, 0.064,
                                                 0.066, 0.055, 0.008, 0.015, 0.025, 0.013};

__device__ double next_random(unsigned long long *seed) {
    const unsigned long long m = 9223372036854775808ull;
    *seed = (2806196910506780709ull * *seed + 1ull) % m;
    return (double)*seed / (double)m;
}

__device__ unsigned long long jump(unsigned long long seed, unsigned long long n) {
    const unsigned long long m = 9223372036854775808ull;
    unsigned long long a = 2806196910506780709ull, c = 1, a_new = 1, c_new = 0;
    n = n % m;
    while (n > 0) {
        if (n & 1) {
            a_new *= a;
            c_new = c_new * a + c;
        }
        c *= a + 1;
        a *= a;
        n >>= 1;
    }
    return (a_new * seed + c_new) % m;
}

__device__ int pick_material(unsigned long long *seed) {
    double roll = next_random(seed);
    for (int i = 0; i < MATERIALS; i++) {
        double running = 0;
        for (int j = i; j > 0; j--)
            running += material_share[j];
        if (roll < running)
            return i;
    }
    return 0;
}

__device__ long grid_search(long n, double quarry, const GridPoint *A, long low, long high) {
    long lower = low, upper = high, length = upper - lower;
    while (length > 1) {
        long middle = lower + length / 2;
        if (A[middle].energy > quarry)
            upper = middle;
        else
            lower = middle;
        length = upper - lower;
    }
    return lower;
}

__device__ void micro(double energy, int nuclide, long points, const GridPoint *grids, double *xs) {
    long at = grid_search(points, energy, grids + nuclide * points, 0, points - 1);
    const GridPoint *low = &grids[nuclide * points + at];
    if (at == points - 1)
        low--;
    const GridPoint *high = low + 1;
    double f = (high->energy - energy) / (high->energy - low->energy);
    xs[0] = high->total - f * (high->total - low->total);
    xs[1] = high->elastic - f * (high->elastic - low->elastic);
    xs[2] = high->absorption - f * (high->absorption - low->absorption);
    xs[3] = high->fission - f * (high->fission - low->fission);
    xs[4] = high->nu_fission - f * (high->nu_fission - low->nu_fission);
}

extern "C" __global__ void xs_lookup(const GridPoint *__restrict__ grids, const int *__restrict__ nuclides,
                                     const int *__restrict__ nuclide_count, const double *__restrict__ density,
                                     double *macro_out, unsigned long long *verify, int lookups, long points,
                                     unsigned long long start_seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lookups)
        return;
    unsigned long long seed = jump(start_seed, 2ull * i);
    double energy = next_random(&seed);
    int material = pick_material(&seed);

    double macro[5] = {0};
    for (int j = 0; j < nuclide_count[material]; j++) {
        double xs[5];
        int nuclide = nuclides[material * MAX_NUCLIDES + j];
        double amount = density[material * MAX_NUCLIDES + j];
        micro(energy, nuclide, points, grids, xs);
        for (int k = 0; k < 5; k++)
            macro[k] += xs[k] * amount;
    }
    double most = -1.0;
    int index = 0;
    for (int k = 0; k < 5; k++) {
        macro_out[5 * i + k] = macro[k];
        if (macro[k] > most) {
            most = macro[k];
            index = k;
        }
    }
    verify[i] = index + 1;
}

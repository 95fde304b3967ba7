// Cross sections: lookup by lookup; with branches, which are guessed, loads need not wait for each other.
#include "native.h"
enum { MATERIALS = 12, MAX_NUCLIDES = 40 };

static const ull A = 2806196910506780709ull, LOW63 = (1ull << 63) - 1;
static const double SHARE[MATERIALS] = {0.140, 0.052, 0.275, 0.134, 0.154, 0.064,
                                        0.066, 0.055, 0.008, 0.015, 0.025, 0.013};

typedef struct {
    double energy, xs[5];
} GridPoint;

void run(const GridPoint *restrict grids, const int *restrict nuclides, const int *restrict nuclide_count,
         const double *restrict density, double *restrict out, ull *restrict verify, int lookups, long points,
         ull start_seed) {
    double limit[MATERIALS] = {0};
    for (int i = 0; i < MATERIALS; i++)
        for (int j = i; j > 0; j--)
            limit[i] += SHARE[j];
    ull seed = start_seed;
    for (int i = 0; i < lookups; i++) {
        seed = (A * seed + 1) & LOW63;
        double energy = seed * 0x1p-63;
        seed = (A * seed + 1) & LOW63;
        double roll = seed * 0x1p-63;
        int material = 0;
        for (int k = 0; k < MATERIALS; k++)
            if (roll < limit[k]) {
                material = k;
                break;
            }
        double macro[5] = {0};
        for (int j = 0; j < nuclide_count[material]; j++) {
            const GridPoint *low = grids + nuclides[material * MAX_NUCLIDES + j] * points;
            double amount = density[material * MAX_NUCLIDES + j];
            for (long length = points - 1; length > 1;) {
                long half = length / 2;
                if (low[half].energy > energy)
                    length = half;
                else {
                    low += half;
                    length -= half;
                }
            }
            const GridPoint *high = low + 1;
            double f = (high->energy - energy) / (high->energy - low->energy);
            for (int k = 0; k < 5; k++)
                macro[k] += (high->xs[k] - f * (high->xs[k] - low->xs[k])) * amount;
        }
        int most = 0;
        for (int k = 0; k < 5; k++) {
            out[5L * i + k] = macro[k];
            if (macro[k] > macro[most])
                most = k;
        }
        verify[i] = most + 1;
    }
}

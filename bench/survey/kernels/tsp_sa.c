// A travelling salesman by simulated annealing, tour after tour, cities in bytes.
#include "native.h"
enum { CITIES = 48 };

static inline uint next_random(ull *state) {
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return *state >> 33;
}

void run(const double *restrict dist, int *restrict best_tour, double *restrict best_length, int chains, int steps,
         double start, double cooling, int seed) {
    for (int id = 0; id < chains; id++) {
        ull state = seed + id * 7919;
        uchar tour[CITIES], best[CITIES];
        for (int i = 0; i < CITIES; i++)
            tour[i] = i;
        for (int i = CITIES - 1; i > 0; i--) {
            int j = next_random(&state) % (i + 1);
            uchar t = tour[i];
            tour[i] = tour[j], tour[j] = t;
        }
        double length = 0, temperature = start;
        for (int i = 0; i < CITIES; i++)
            length += dist[tour[i] * CITIES + tour[i + 1 < CITIES ? i + 1 : 0]];
        double shortest = length;
        memcpy(best, tour, CITIES);
        for (int s = 0; s < steps; s++, temperature *= cooling) {
            int p = next_random(&state) % CITIES, q = next_random(&state) % CITIES, i = MIN(p, q), j = MAX(p, q);
            if (i == j || (i == 0 && j == CITIES - 1))
                continue;
            int a = tour[i ? i - 1 : CITIES - 1], b = tour[i], c = tour[j], d = tour[j + 1 < CITIES ? j + 1 : 0];
            double delta =
                dist[a * CITIES + c] + dist[b * CITIES + d] - dist[a * CITIES + b] - dist[c * CITIES + d];
            double chance = next_random(&state) / 2147483648.0;
            if (delta < 0 || chance < exp(-delta / temperature)) {
                while (i < j) {
                    uchar t = tour[i];
                    tour[i++] = tour[j], tour[j--] = t;
                }
                length += delta;
                if (length < shortest) {
                    shortest = length;
                    memcpy(best, tour, CITIES);
                }
            }
        }
        for (int i = 0; i < CITIES; i++)
            best_tour[id * CITIES + i] = best[i];
        best_length[id] = shortest;
    }
}

// A travelling salesman by simulated annealing: each thread shuffles a tour of its own, then turns parts of it
// round, which is kept if shorter, or by chance while it is warm.
#define CITIES 48

__device__ unsigned int next_random(unsigned long long *state) {
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned int)(*state >> 33);
}

__device__ double tour_length(const int *tour, const double *dist) {
    double length = 0;
    for (int i = 0; i < CITIES; i++)
        length += dist[tour[i] * CITIES + tour[(i + 1) % CITIES]];
    return length;
}

extern "C" __global__ void tsp_sa(const double *dist, int *best_tour, double *best_length, int chains, int steps,
                                  double start, double cooling, int seed) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= chains)
        return;
    unsigned long long state = seed + id * 7919;
    int tour[CITIES], best[CITIES];
    for (int i = 0; i < CITIES; i++)
        tour[i] = i;
    for (int i = CITIES - 1; i > 0; i--) {
        int j = next_random(&state) % (i + 1);
        int t = tour[i];
        tour[i] = tour[j];
        tour[j] = t;
    }
    double length = tour_length(tour, dist), shortest = length;
    for (int i = 0; i < CITIES; i++)
        best[i] = tour[i];

    double temperature = start;
    for (int s = 0; s < steps; s++, temperature *= cooling) {
        int i = next_random(&state) % CITIES, j = next_random(&state) % CITIES;
        if (i == j)
            continue;
        if (i > j) {
            int t = i;
            i = j;
            j = t;
        }
        if (i == 0 && j == CITIES - 1)
            continue;
        int a = tour[(i + CITIES - 1) % CITIES], b = tour[i], c = tour[j], d = tour[(j + 1) % CITIES];
        double delta = dist[a * CITIES + c] + dist[b * CITIES + d] - dist[a * CITIES + b] - dist[c * CITIES + d];
        double chance = next_random(&state) / 2147483648.0;
        if (delta < 0 || chance < exp(-delta / temperature)) {
            while (i < j) {
                int t = tour[i];
                tour[i++] = tour[j];
                tour[j--] = t;
            }
            length += delta;
            if (length < shortest) {
                shortest = length;
                for (int k = 0; k < CITIES; k++)
                    best[k] = tour[k];
            }
        }
    }
    for (int i = 0; i < CITIES; i++)
        best_tour[id * CITIES + i] = best[i];
    best_length[id] = shortest;
}

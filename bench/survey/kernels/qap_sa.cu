// Quadratic assignment by simulated annealing: a chain a thread, its permutation local, both matrices shared.
#define MAX_N 32

__device__ __forceinline__ unsigned int xorshift(unsigned int &s) {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return s;
}

__device__ __forceinline__ unsigned int below(unsigned int &s, unsigned int n) {
    return __umulhi(xorshift(s), n);
}

extern "C" __global__ void qap_sa(const int *__restrict__ flow, const int *__restrict__ distance,
                                  unsigned char *__restrict__ best_perm, int *__restrict__ best_cost,
                                  unsigned long long *winner, int n, int chains, int steps, float temperature,
                                  float cooling, unsigned int seed) {
    __shared__ short f[MAX_N * MAX_N], d[MAX_N * MAX_N];
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
        f[i / n * MAX_N + i % n] = flow[i];
        d[i / n * MAX_N + i % n] = distance[i];
    }
    __syncthreads();
    const int chain = blockIdx.x * blockDim.x + threadIdx.x;
    if (chain >= chains)
        return;
    unsigned int state = seed ^ (chain + 1) * 0x9e3779b9u;
    unsigned char p[MAX_N], best[MAX_N];
    for (int i = 0; i < n; i++)
        p[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = below(state, i + 1);
        unsigned char t = p[i];
        p[i] = p[j];
        p[j] = t;
    }
    int cost = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            cost += f[i * MAX_N + j] * d[p[i] * MAX_N + p[j]];
    int least = cost;
    for (int i = 0; i < n; i++)
        best[i] = p[i];

    for (int step = 0; step < steps; step++, temperature *= cooling) {
        int r = below(state, n), s = below(state, n - 1);
        s += s >= r;
        const int pr = p[r], ps = p[s];
        int delta = 0;
        for (int k = 0; k < n; k++) {
            if (k == r || k == s)
                continue;
            int pk = p[k];
            delta += (f[r * MAX_N + k] - f[s * MAX_N + k]) * (d[ps * MAX_N + pk] - d[pr * MAX_N + pk]);
        }
        delta *= 2;
        if (delta > 0) {
            float chance = expf(-delta / temperature);
            if (xorshift(state) * 2.3283064e-10f >= chance)
                continue;
        }
        p[r] = ps;
        p[s] = pr;
        cost += delta;
        if (cost < least) {
            least = cost;
            for (int i = 0; i < n; i++)
                best[i] = p[i];
        }
    }
    best_cost[chain] = least;
    for (int i = 0; i < n; i++)
        best_perm[(size_t)chain * n + i] = best[i];
    atomicMin(winner, (unsigned long long)least << 16 | chain);
}

// A network of spiking neurons: the cells in vectors, then the synapses of those that fired.
#include "native.h"
enum { DELAYS = 8 };

static inline uint mix(uint h) {
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ h >> 16;
}

static const float A[4] = {0.02f, 0.1f, 0.02f, 0.02f}, B[4] = {0.2f, 0.2f, 0.2f, 0.25f},
                   C[4] = {-65, -65, -50, -65}, D[4] = {8, 2, 2, 2};

void run(float *restrict v, float *restrict u, const uchar *restrict kind, int *restrict ring, int *restrict fired_count,
         unsigned short *restrict spikes, const int *restrict start, const int *restrict target,
         const signed char *restrict weight, const uchar *restrict delay, int n, int steps, float noise) {
    int *fired = malloc(sizeof(int) * (long)n);
    uchar *fires = malloc(n);
    for (int step = 0; step < steps; step++) {
        int *restrict input = ring + (long)(step % DELAYS) * n;
#pragma omp simd
        for (int i = 0; i < n; i++) {
            int k = kind[i];
            uint h = mix(i * 9781u + step * 6271u + 1u);
            float bell = (int)((h & 1023) + (h >> 10 & 1023) + (h >> 20 & 1023)) * (1.0f / 512) - 3;
            float current = input[i] * (1.0f / 64) + noise * bell, vi = v[i], ui = u[i];
            vi += 0.5f * (0.04f * vi * vi + 5 * vi + 140 - ui + current);
            vi += 0.5f * (0.04f * vi * vi + 5 * vi + 140 - ui + current);
            ui += A[k] * (B[k] * vi - ui);
            int fire = vi >= 30;
            v[i] = fire ? C[k] : vi;
            u[i] = fire ? ui + D[k] : ui;
            fires[i] = fire;
            spikes[i] += fire;
            input[i] = 0;
        }
        int count = 0;
        for (int i = 0; i < n; i++) {
            fired[count] = i;
            count += fires[i];
        }
        fired_count[step] += count;
        for (int f = 0; f < count; f++)
            for (int s = start[fired[f]]; s < start[fired[f] + 1]; s++)
                ring[(long)((step + delay[s]) % DELAYS) * n + target[s]] += weight[s];
    }
    free(fired);
    free(fires);
}

// A network of spiking neurons (Izhikevich's): a step of the cells, which lists those that fire, and a warp for each
// of these that puts its synapses' weights into a ring of coming inputs.
#define DELAYS 8
#define FULL 0xffffffffu

struct Kind {
    float a, b, c, d;
};

// regular spiking, fast spiking, chattering, low threshold
__constant__ Kind kinds[4] = {
    {0.02f, 0.2f, -65.0f, 8.0f},
    {0.1f, 0.2f, -65.0f, 2.0f},
    {0.02f, 0.2f, -50.0f, 2.0f},
    {0.02f, 0.25f, -65.0f, 2.0f},
};

__device__ unsigned int mix(unsigned int h) {
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    h ^= h >> 16;
    return h;
}

extern "C" __global__ void iz_update(float *v, float *u, const unsigned char *kind, int *ring, int *fired,
                                     int *fired_count, unsigned short *spikes, int n, int step, float noise) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool fires = false;
    if (i < n) {
        Kind k = kinds[kind[i]];
        int *input = ring + (long long)(step % DELAYS) * n + i;
        float current = *input * (1.0f / 64.0f);
        *input = 0;
        // a sum of three uniform numbers, nearly normal
        unsigned int h = mix(i * 9781u + step * 6271u + 1u);
        float bell = ((h & 1023u) + (h >> 10 & 1023u) + (h >> 20 & 1023u)) * (1.0f / 512.0f) - 3.0f;
        current += noise * bell;

        float vi = v[i], ui = u[i];
        for (int half = 0; half < 2; half++)
            vi += 0.5f * (0.04f * vi * vi + 5.0f * vi + 140.0f - ui + current);
        ui += k.a * (k.b * vi - ui);
        fires = vi >= 30.0f;
        if (fires) {
            vi = k.c;
            ui += k.d;
            spikes[i]++;
        }
        v[i] = vi;
        u[i] = ui;
    }
    unsigned int who = __ballot_sync(FULL, fires);
    if (who == 0)
        return;
    int lane = threadIdx.x & 31, base = 0;
    if (lane == 0)
        base = atomicAdd(fired_count + step, __popc(who));
    base = __shfl_sync(FULL, base, 0);
    if (fires)
        fired[base + __popc(who & ((1u << lane) - 1u))] = i;
}

extern "C" __global__ void iz_deliver(const int *__restrict__ fired, const int *__restrict__ fired_count,
                                      const int *__restrict__ start, const int *__restrict__ target,
                                      const signed char *__restrict__ weight, const unsigned char *__restrict__ delay,
                                      int *ring, int n, int step) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    int lane = threadIdx.x % 32, count = fired_count[step];
    for (int f = warp; f < count; f += warps) {
        int from = fired[f];
        for (int s = start[from] + lane; s < start[from + 1]; s += 32) {
            int slot = (step + delay[s]) % DELAYS;
            atomicAdd(&ring[(long long)slot * n + target[s]], (int)weight[s]);
        }
    }
}

// A swarm of particles that looks for a function's least value (Levy's): positions and velocities by dimension, fitness
// and each particle's best, then the swarm's best. Random numbers are a hash of who and when.
#include <cfloat>
#define PHI 3.14159265358979323846

__device__ double hash01(unsigned a, unsigned b) {
    unsigned h = a * 0x9E3779B1u ^ b * 0x85EBCA77u;
    h ^= h >> 15;
    h *= 0x2C1B3C6Du;
    h ^= h >> 12;
    h *= 0x297A2D39u;
    h ^= h >> 15;
    return h * (1.0 / 4294967296.0);
}

__device__ double levy(const double *x, int dims, int stride) {
    double w = 1.0 + (x[0] - 1.0) * 0.25;
    double s = sin(PHI * w);
    double sum = s * s;
    for (int d = 0; d < dims - 1; d++) {
        double wi = 1.0 + (x[(size_t)d * stride] - 1.0) * 0.25;
        double si = sin(PHI * wi + 1.0);
        sum += (wi - 1.0) * (wi - 1.0) * (1.0 + 10.0 * si * si);
    }
    double wd = 1.0 + (x[(size_t)(dims - 1) * stride] - 1.0) * 0.25;
    double sd = sin(2.0 * PHI * wd);
    return sum + (wd - 1.0) * (wd - 1.0) * (1.0 + sd * sd);
}

extern "C" __global__ void pso_move(double *positions, double *velocities, const double *best_positions,
                                    const double *swarm_best, int particles, int dims, int round, double omega,
                                    double c1, double c2, double limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int d = blockIdx.y;
    if (i >= particles)
        return;
    int at = d * particles + i;
    double r1 = hash01(at, 2 * round), r2 = hash01(at, 2 * round + 1);
    double x = positions[at];
    double v = omega * velocities[at] + c1 * r1 * (best_positions[at] - x) + c2 * r2 * (swarm_best[d] - x);
    v = fmax(-limit, fmin(limit, v));
    velocities[at] = v;
    positions[at] = fmax(-10.0, fmin(10.0, x + v));
}

extern "C" __global__ void pso_fitness(const double *positions, double *best_positions, double *best_values,
                                       int particles, int dims) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles)
        return;
    double value = levy(positions + i, dims, particles);
    if (value < best_values[i]) {
        best_values[i] = value;
        for (int d = 0; d < dims; d++)
            best_positions[d * particles + i] = positions[d * particles + i];
    }
}

extern "C" __global__ void pso_best(const double *best_values, const double *best_positions, double *swarm_best,
                                    double *history, int particles, int dims, int round) {
    extern __shared__ double values[];
    int *index = (int *)(values + blockDim.x);
    int tid = threadIdx.x;
    double least = DBL_MAX;
    int where = -1;
    for (int i = tid; i < particles; i += blockDim.x)
        if (best_values[i] < least) {
            least = best_values[i];
            where = i;
        }
    values[tid] = least;
    index[tid] = where;
    __syncthreads();
    for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
        if (tid < s && (values[tid + s] < values[tid] ||
                        (values[tid + s] == values[tid] && index[tid + s] < index[tid]))) {
            values[tid] = values[tid + s];
            index[tid] = index[tid + s];
        }
        __syncthreads();
    }
    for (int d = tid; d < dims; d += blockDim.x)
        swarm_best[d] = best_positions[d * particles + index[0]];
    if (tid == 0)
        history[round] = values[0];
}

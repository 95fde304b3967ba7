// An American put by least squares (Longstaff and Schwartz): paths, then backwards in time the sums of a regression on
// those paths that are in the money, its solution by one thread, and the decision to exercise.
#define THREADS 256
#define SUMS 8
#define FULL 0xffffffffu

__device__ inline unsigned int pcg(unsigned int &state) {
    unsigned int s = state;
    state = s * 747796405u + 2891336453u;
    unsigned int word = ((s >> ((s >> 28u) + 4u)) ^ s) * 277803737u;
    return (word >> 22u) ^ word;
}

// price[t * paths + path] is after step t + 1
extern "C" __global__ void lsmc_paths(float *price, int paths, int steps, unsigned int seed, float s0, float drift,
                                      float vol) {
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;
    unsigned int state = seed + path * 2654435761u;
    pcg(state);
    float log_s = logf(s0), spare = 0.0f;
    bool has_spare = false;
    for (int t = 0; t < steps; t++) {
        float z;
        if (has_spare) {
            z = spare;
            has_spare = false;
        } else {
            float u1 = ((pcg(state) >> 8) + 1) * (1.0f / 16777216.0f);
            float u2 = (pcg(state) >> 8) * (1.0f / 16777216.0f);
            float r = sqrtf(-2.0f * logf(u1)), s, c;
            sincosf(6.2831853f * u2, &s, &c);
            z = r * c;
            spare = r * s;
            has_spare = true;
        }
        log_s += drift + vol * z;
        price[(size_t)t * paths + path] = expf(log_s);
    }
}

extern "C" __global__ void lsmc_payoff(const float *price, float *cash, int paths, int steps, float strike) {
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path < paths)
        cash[path] = fmaxf(strike - price[(size_t)(steps - 1) * paths + path], 0.0f);
}

__device__ inline double warp_sum(double x) {
    for (int offset = 16; offset > 0; offset >>= 1)
        x += __shfl_xor_sync(FULL, x, offset);
    return x;
}

extern "C" __global__ void lsmc_sums(const float *price, const float *cash, double *partial, int paths, int step,
                                     float strike, float discount) {
    double sum[SUMS] = {};
    for (int path = blockIdx.x * blockDim.x + threadIdx.x; path < paths; path += blockDim.x * gridDim.x) {
        float s = price[(size_t)step * paths + path];
        if (s >= strike)
            continue;
        double x = s / strike, y = discount * cash[path];
        sum[0] += 1.0;
        sum[1] += x;
        sum[2] += x * x;
        sum[3] += x * x * x;
        sum[4] += x * x * x * x;
        sum[5] += y;
        sum[6] += y * x;
        sum[7] += y * x * x;
    }
    __shared__ double by_warp[SUMS][THREADS / 32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < SUMS; k++) {
        double total = warp_sum(sum[k]);
        if (lane == 0)
            by_warp[k][warp] = total;
    }
    __syncthreads();
    if (threadIdx.x < SUMS) {
        double total = 0.0;
        for (int w = 0; w < THREADS / 32; w++)
            total += by_warp[threadIdx.x][w];
        partial[blockIdx.x * SUMS + threadIdx.x] = total;
    }
}

// Normal equations of three unknowns by Cramer's rule.
extern "C" __global__ void lsmc_solve(const double *partial, double *beta, int groups) {
    __shared__ double s[SUMS];
    if (threadIdx.x < SUMS) {
        double total = 0.0;
        for (int g = 0; g < groups; g++)
            total += partial[g * SUMS + threadIdx.x];
        s[threadIdx.x] = total;
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    double c00 = s[2] * s[4] - s[3] * s[3], c01 = s[2] * s[3] - s[1] * s[4], c02 = s[1] * s[3] - s[2] * s[2];
    double c11 = s[0] * s[4] - s[2] * s[2], c12 = s[1] * s[2] - s[0] * s[3], c22 = s[0] * s[2] - s[1] * s[1];
    double det = s[0] * c00 + s[1] * c01 + s[2] * c02;
    double inv = s[0] >= 3.0 && fabs(det) > 1e-12 ? 1.0 / det : 0.0;
    beta[0] = inv * (c00 * s[5] + c01 * s[6] + c02 * s[7]);
    beta[1] = inv * (c01 * s[5] + c11 * s[6] + c12 * s[7]);
    beta[2] = inv * (c02 * s[5] + c12 * s[6] + c22 * s[7]);
}

extern "C" __global__ void lsmc_exercise(const float *price, float *cash, const double *beta, int paths, int step,
                                         float strike, float discount) {
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;
    float s = price[(size_t)step * paths + path], later = discount * cash[path];
    if (s < strike) {
        double x = s / strike;
        double expected = beta[0] + x * (beta[1] + x * beta[2]);
        if (strike - s > expected)
            later = strike - s;
    }
    cash[path] = later;
}

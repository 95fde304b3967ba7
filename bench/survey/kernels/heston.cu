// A call in Heston's model of varying volatility by Monte Carlo: a thread for each path, with a generator of its own,
// and sums of payoffs for each block.
#define THREADS 256

__device__ unsigned xorshift(unsigned &state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

// In (0, 1].
__device__ float uniform(unsigned &state) {
    return ((xorshift(state) >> 8) + 1) * (1.0f / 16777216.0f);
}

__device__ void box_muller(unsigned &state, float &z1, float &z2) {
    float u1 = uniform(state), u2 = uniform(state);
    float r = sqrtf(-2.0f * logf(u1));
    float theta = 6.2831853f * u2;
    z1 = r * cosf(theta);
    z2 = r * sinf(theta);
}

extern "C" __global__ void heston(float *sums, float *squares, int paths, int steps, unsigned seed, float s0,
                                  float v0, float strike, float rate, float maturity, float kappa, float theta,
                                  float xi, float rho) {
    __shared__ float payoff_sum[THREADS], payoff_square[THREADS];
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    float payoff = 0.0f;
    if (path < paths) {
        unsigned state = (seed ^ path) * 2654435761u;
        state ^= state >> 16;
        state *= 0x85ebca6bu;
        state ^= state >> 13;
        if (state == 0)
            state = 1;

        float dt = maturity / steps;
        float sqrt_dt = sqrtf(dt);
        float rho_rest = sqrtf(1.0f - rho * rho);
        float s = s0, v = v0;
        for (int i = 0; i < steps; i++) {
            float z1, z2;
            box_muller(state, z1, z2);
            float zv = rho * z1 + rho_rest * z2;
            float v_plus = fmaxf(v, 0.0f);
            float root = sqrtf(v_plus);
            s *= expf((rate - 0.5f * v_plus) * dt + root * sqrt_dt * z1);
            v += kappa * (theta - v_plus) * dt + xi * root * sqrt_dt * zv;
        }
        payoff = expf(-rate * maturity) * fmaxf(s - strike, 0.0f);
    }

    int tid = threadIdx.x;
    payoff_sum[tid] = payoff;
    payoff_square[tid] = payoff * payoff;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (tid < half) {
            payoff_sum[tid] += payoff_sum[tid + half];
            payoff_square[tid] += payoff_square[tid + half];
        }
        __syncthreads();
    }
    if (tid == 0) {
        sums[blockIdx.x] = payoff_sum[0];
        squares[blockIdx.x] = payoff_square[0];
    }
}

// A swarm of particles that looks for the least value of Rastrigin's function: particles move and are evaluated, the
// best of each block is found in shared memory, and one block takes the best of all.
#define THREADS 256

__device__ float draw(unsigned &state) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) * (1.0f / 16777216.0f);
}

extern "C" __global__ void move(float *position, float *velocity, float *own_best, float *own_value,
                                const float *global_best, unsigned *seeds, float *block_value, int *block_index,
                                int particles, int dims, float inertia, float c1, float c2, float limit) {
    __shared__ float values[THREADS];
    __shared__ int indices[THREADS];
    int tid = threadIdx.x, p = blockIdx.x * blockDim.x + tid;
    float best = 3.4e38f;
    if (p < particles) {
        unsigned state = seeds[p];
        float sum = 10.0f * dims;
        for (int d = 0; d < dims; d++) {
            int at = p * dims + d;
            float r1 = draw(state), r2 = draw(state);
            float x = position[at];
            float v = inertia * velocity[at] + c1 * r1 * (own_best[at] - x) + c2 * r2 * (global_best[d] - x);
            v = fminf(fmaxf(v, -0.5f * limit), 0.5f * limit);
            x += v;
            if (x < -limit || x > limit) {
                x = x < 0.0f ? -limit : limit;
                v = -0.5f * v;
            }
            position[at] = x;
            velocity[at] = v;
            sum += x * x - 10.0f * cosf(6.2831853f * x);
        }
        seeds[p] = state;
        best = own_value[p];
        if (sum < best) {
            best = sum;
            own_value[p] = sum;
            for (int d = 0; d < dims; d++)
                own_best[p * dims + d] = position[p * dims + d];
        }
    }
    values[tid] = best;
    indices[tid] = p;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s && values[tid + s] < values[tid]) {
            values[tid] = values[tid + s];
            indices[tid] = indices[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) {
        block_value[blockIdx.x] = values[0];
        block_index[blockIdx.x] = indices[0];
    }
}

extern "C" __global__ void take_best(const float *own_best, const float *block_value, const int *block_index,
                                     float *global_best, float *global_value, int blocks, int dims) {
    __shared__ float values[THREADS];
    __shared__ int indices[THREADS];
    int tid = threadIdx.x;
    float best = 3.4e38f;
    int index = -1;
    for (int b = tid; b < blocks; b += blockDim.x) {
        if (block_value[b] < best) {
            best = block_value[b];
            index = block_index[b];
        }
    }
    values[tid] = best;
    indices[tid] = index;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s && values[tid + s] < values[tid]) {
            values[tid] = values[tid + s];
            indices[tid] = indices[tid + s];
        }
        __syncthreads();
    }
    if (values[0] < global_value[0]) {
        for (int d = tid; d < dims; d += blockDim.x)
            global_best[d] = own_best[indices[0] * dims + d];
        __syncthreads();
        if (tid == 0)
            global_value[0] = values[0];
    }
}

// A particle filter that follows a bright object through frames of a film, in double precision: a step and likelihood
// of each particle, sums of weights, their normalised running sums, and systematic resampling.
#define THREADS 128
#define SCAN_THREADS 512
#define PI 3.1415926535897932

__device__ double uniform(int *seed, int index) {
    const long M = 2147483647;
    long next = (1103515245L * seed[index] + 12345L) % M;
    seed[index] = (int)next;
    return fabs(next / (double)M);
}

__device__ double normal(int *seed, int index) {
    double u = uniform(seed, index);
    double v = uniform(seed, index);
    double cosine = cos(2 * PI * v);
    return sqrt(-2 * log(u)) * cosine;
}

extern "C" __global__ void pf_likelihood(double *x, double *y, double *weights, const unsigned char *film,
                                         const int2 *disc, int points, int *seed, double *partial, int particles,
                                         int width, int height, int time) {
    __shared__ double sums[THREADS];
    const unsigned char *frame = film + (size_t)time * width * height;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double weight = 0.0;
    if (i < particles) {
        double px = x[i] + 1.0 + 5.0 * normal(seed, i);
        double py = y[i] - 2.0 + 2.0 * normal(seed, i);
        x[i] = px;
        y[i] = py;
        int cx = (int)round(px), cy = (int)round(py);
        double likelihood = 0.0;
        for (int k = 0; k < points; k++) {
            int col = cx + disc[k].x, row = cy + disc[k].y;
            if (col < 0 || col >= width || row < 0 || row >= height)
                continue;
            double value = frame[row * width + col];
            likelihood += ((value - 100) * (value - 100) - (value - 228) * (value - 228)) / 50.0;
        }
        likelihood /= points * 40.0;
        weight = weights[i] * exp(likelihood);
        weights[i] = weight;
    }
    sums[threadIdx.x] = weight;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sums[0];
}

extern "C" __global__ void pf_sum(double *partial, int blocks) {
    if (threadIdx.x == 0) {
        double sum = 0.0;
        for (int b = 0; b < blocks; b++)
            sum += partial[b];
        partial[0] = sum;
    }
}

// One block: running sums of the normalised weights, and the mean place.
extern "C" __global__ void pf_cdf(const double *x, const double *y, const double *weights, const double *partial,
                                  double *cdf, double *centre, int *seed, double *offset, int particles,
                                  int time) {
    __shared__ double warp_sum[SCAN_THREADS / 32];
    __shared__ double carry, mean_x, mean_y;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        carry = mean_x = mean_y = 0.0;
        *offset = uniform(seed, 0) / particles;
    }
    __syncthreads();
    double total = partial[0], sx = 0.0, sy = 0.0;
    for (int base = 0; base < particles; base += SCAN_THREADS) {
        int i = base + threadIdx.x;
        double w = i < particles ? weights[i] / total : 0.0;
        if (i < particles) {
            sx += w * x[i];
            sy += w * y[i];
        }
        double sum = w;
        for (int d = 1; d < 32; d *= 2) {
            double other = __shfl_up_sync(0xffffffff, sum, d);
            if (lane >= d)
                sum += other;
        }
        if (lane == 31)
            warp_sum[warp] = sum;
        __syncthreads();
        double before = carry;
        for (int k = 0; k < warp; k++)
            before += warp_sum[k];
        if (i < particles)
            cdf[i] = before + sum;
        __syncthreads();
        if (threadIdx.x == SCAN_THREADS - 1)
            carry = before + sum;
        __syncthreads();
    }
    for (int d = 16; d > 0; d /= 2) {
        sx += __shfl_down_sync(0xffffffff, sx, d);
        sy += __shfl_down_sync(0xffffffff, sy, d);
    }
    if (lane == 0) {
        atomicAdd(&mean_x, sx);
        atomicAdd(&mean_y, sy);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        centre[2 * time] = mean_x;
        centre[2 * time + 1] = mean_y;
    }
}

extern "C" __global__ void pf_resample(const double *x, const double *y, double *x_new, double *y_new,
                                       double *weights, const double *cdf, const double *offset, int particles) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles)
        return;
    double u = *offset + i / (double)particles;
    int low = 0, high = particles - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (cdf[middle] >= u)
            high = middle;
        else
            low = middle + 1;
    }
    x_new[i] = x[low];
    y_new[i] = y[low];
    weights[i] = 1.0 / particles;
}

// Pairs of normal deviates that are counted by square rings, from a generator modulo 2^46 in double precision: each
// thread jumps to its place in the sequence and makes a batch of pairs.
#define THREADS 128
#define RINGS 10

// x = a x mod 2^46, and x as a fraction.
__device__ double randlc(double *x, double a) {
    const double r23 = 1.1920928955078125e-07, t23 = 8388608.0;
    const double r46 = r23 * r23, t46 = t23 * t23;
    double t1 = r23 * a;
    double a1 = (int)t1;
    double a2 = a - t23 * a1;
    t1 = r23 * *x;
    double x1 = (int)t1;
    double x2 = *x - t23 * x1;
    t1 = a1 * x2 + a2 * x1;
    double t2 = (int)(r23 * t1);
    double z = t1 - t23 * t2;
    double t3 = t23 * z + a2 * x2;
    double t4 = (int)(r46 * t3);
    *x = t3 - t46 * t4;
    return r46 * *x;
}

extern "C" __global__ void nas_ep(double *sx_out, double *sy_out, double *rings, double seed, double a, int batches,
                                  int pairs) {
    __shared__ double sums_x[THREADS], sums_y[THREADS];
    __shared__ unsigned int counts[RINGS];
    int tid = threadIdx.x;
    if (tid < RINGS)
        counts[tid] = 0;
    __syncthreads();

    int batch = blockIdx.x * blockDim.x + tid;
    double sx = 0.0, sy = 0.0;
    int q[RINGS];
    for (int i = 0; i < RINGS; i++)
        q[i] = 0;
    if (batch < batches) {
        // seed * a^(2 pairs batch)
        double x = seed, power = a;
        long k = 2L * pairs * batch;
        while (k > 0) {
            if (k & 1)
                randlc(&x, power);
            randlc(&power, power);
            k >>= 1;
        }
        for (int i = 0; i < pairs; i++) {
            double x1 = 2.0 * randlc(&x, a) - 1.0;
            double x2 = 2.0 * randlc(&x, a) - 1.0;
            double t = x1 * x1 + x2 * x2;
            if (t <= 1.0) {
                double f = sqrt(-2.0 * log(t) / t);
                double g1 = x1 * f, g2 = x2 * f;
                int ring = (int)fmax(fabs(g1), fabs(g2));
                q[ring]++;
                sx += g1;
                sy += g2;
            }
        }
    }
    for (int i = 0; i < RINGS; i++)
        if (q[i] > 0)
            atomicAdd(&counts[i], q[i]);
    sums_x[tid] = sx;
    sums_y[tid] = sy;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half >>= 1) {
        if (tid < half) {
            sums_x[tid] += sums_x[tid + half];
            sums_y[tid] += sums_y[tid + half];
        }
        __syncthreads();
    }
    if (tid == 0) {
        sx_out[blockIdx.x] = sums_x[0];
        sy_out[blockIdx.x] = sums_y[0];
    }
    if (tid < RINGS)
        atomicAdd(&rings[tid], (double)counts[tid]);
}

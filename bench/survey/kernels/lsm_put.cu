// An American put by Longstaff and Schwartz: paths of a share step by step, then from the last date backwards a
// regression of what holding brought on 1, x, x^2 over paths in the money, and exercise where that is less than now.
#include <cuda_runtime.h>
#define SUMS 8

// Normals: [steps][paths / 2]; the second half of the paths takes them with the other sign.
extern "C" __global__ void lsm_paths(const float *__restrict__ normals, double *__restrict__ price, int paths,
                                     int steps, double s0, double drift, double vol) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paths)
        return;
    int half = paths / 2;
    double sign = p < half ? 1.0 : -1.0, s = s0;
    for (int t = 0; t < steps; t++) {
        s *= exp(drift + vol * sign * normals[t * half + p % half]);
        price[(size_t)t * paths + p] = s;
    }
}

extern "C" __global__ void lsm_last(const double *__restrict__ price, double *__restrict__ cash, int date,
                                    int paths, double strike) {
    price += (size_t)date * paths;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < paths; p += gridDim.x * blockDim.x)
        cash[p] = fmax(strike - price[p], 0.0);
}

// Sums of powers of x up to 4 and of y times powers up to 2, over paths in the money.
extern "C" __global__ void lsm_sums(const double *__restrict__ price, const double *__restrict__ cash,
                                    double *__restrict__ partial, int date, int paths, double strike,
                                    double discount) {
    price += (size_t)date * paths;
    __shared__ double warp_sums[8][SUMS];
    double sums[SUMS] = {0};
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < paths; p += gridDim.x * blockDim.x) {
        double x = price[p] / strike;
        if (x < 1.0) {
            double y = cash[p] * discount, power = 1.0;
#pragma unroll
            for (int k = 0; k < 5; k++) {
                sums[k] += power;
                if (k < 3)
                    sums[5 + k] += power * y;
                power *= x;
            }
        }
    }
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
#pragma unroll
    for (int k = 0; k < SUMS; k++) {
        for (int offset = 16; offset > 0; offset >>= 1)
            sums[k] += __shfl_down_sync(0xffffffffu, sums[k], offset);
        if (lane == 0)
            warp_sums[warp][k] = sums[k];
    }
    __syncthreads();
    if (threadIdx.x < SUMS) {
        double total = 0.0;
        for (int w = 0; w < blockDim.x / 32; w++)
            total += warp_sums[w][threadIdx.x];
        partial[blockIdx.x * SUMS + threadIdx.x] = total;
    }
}

// Three equations by Cramer's rule, one thread.
extern "C" __global__ void lsm_solve(const double *__restrict__ partial, double *__restrict__ beta, int blocks) {
    double s[SUMS] = {0};
    for (int b = 0; b < blocks; b++)
        for (int k = 0; k < SUMS; k++)
            s[k] += partial[b * SUMS + k];
    double c00 = s[2] * s[4] - s[3] * s[3], c01 = s[2] * s[3] - s[1] * s[4], c02 = s[1] * s[3] - s[2] * s[2];
    double det = s[0] * c00 + s[1] * c01 + s[2] * c02;
    if (s[0] < 8.0 || fabs(det) < 1e-12) {
        beta[0] = 1e30;  // too few: nobody exercises
        beta[1] = beta[2] = 0.0;
        return;
    }
    double c11 = s[0] * s[4] - s[2] * s[2], c12 = s[1] * s[2] - s[0] * s[3], c22 = s[0] * s[2] - s[1] * s[1];
    beta[0] = (c00 * s[5] + c01 * s[6] + c02 * s[7]) / det;
    beta[1] = (c01 * s[5] + c11 * s[6] + c12 * s[7]) / det;
    beta[2] = (c02 * s[5] + c12 * s[6] + c22 * s[7]) / det;
}

extern "C" __global__ void lsm_exercise(const double *__restrict__ price, double *__restrict__ cash,
                                        const double *__restrict__ beta, int date, int paths, double strike,
                                        double discount) {
    price += (size_t)date * paths;
    const double b0 = beta[0], b1 = beta[1], b2 = beta[2];
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < paths; p += gridDim.x * blockDim.x) {
        double x = price[p] / strike, held = cash[p] * discount;
        double now = strike - price[p];
        cash[p] = now > 0.0 && now > b0 + x * (b1 + x * b2) ? now : held;
    }
}

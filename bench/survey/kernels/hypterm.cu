// Hyperbolic terms of a compressible flow's equations on a box with four ghost cells: derivatives of eighth order of five
// fluxes in three directions, a cell a thread, one direction after the other.
#define G 4
#define ALP 0.8
#define BET (-0.2)
#define GAM 0.038095238095238
#define DEL (-0.003571428571429)
#define AT(a, i, j, k) a[((size_t)(k) * m + (j)) * l + (i)]

__device__ __forceinline__ double d8(const double *p, size_t s, double dinv) {
    return (ALP * (p[s] - *(p - s)) + BET * (p[2 * s] - *(p - 2 * s)) + GAM * (p[3 * s] - *(p - 3 * s)) +
            DEL * (p[4 * s] - *(p - 4 * s))) *
           dinv;
}

// Of a product of two fields.
__device__ __forceinline__ double d8p(const double *p, const double *q, size_t s, double dinv) {
    double sum = ALP * (p[s] * q[s] - *(p - s) * *(q - s));
    sum += BET * (p[2 * s] * q[2 * s] - *(p - 2 * s) * *(q - 2 * s));
    sum += GAM * (p[3 * s] * q[3 * s] - *(p - 3 * s) * *(q - 3 * s));
    sum += DEL * (p[4 * s] * q[4 * s] - *(p - 4 * s) * *(q - 4 * s));
    return sum * dinv;
}

extern "C" __global__ void __launch_bounds__(256)
    hypterm_x(double *__restrict__ flux_0, double *__restrict__ flux_1, double *__restrict__ flux_2,
              double *__restrict__ flux_3, double *__restrict__ flux_4, const double *__restrict__ cons_1,
              const double *__restrict__ cons_2, const double *__restrict__ cons_3,
              const double *__restrict__ cons_4, const double *__restrict__ q_1, const double *__restrict__ q_4,
              double dxinv, int l, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + G, j = blockIdx.y * blockDim.y + threadIdx.y + G;
    int k = blockIdx.z * blockDim.z + threadIdx.z + G;
    if (i < l - G && j < m - G && k < n - G) {
        size_t c = ((size_t)k * m + j) * l + i;
        AT(flux_0, i, j, k) = -d8(cons_1 + c, 1, dxinv);
        AT(flux_1, i, j, k) = -(d8p(cons_1 + c, q_1 + c, 1, dxinv) + d8(q_4 + c, 1, dxinv));
        AT(flux_2, i, j, k) = -d8p(cons_2 + c, q_1 + c, 1, dxinv);
        AT(flux_3, i, j, k) = -d8p(cons_3 + c, q_1 + c, 1, dxinv);
        AT(flux_4, i, j, k) = -(d8p(cons_4 + c, q_1 + c, 1, dxinv) + d8p(q_4 + c, q_1 + c, 1, dxinv));
    }
}

extern "C" __global__ void __launch_bounds__(256)
    hypterm_yz(double *flux_0, double *flux_1, double *flux_2, double *flux_3, double *flux_4, const double *cons_1,
               const double *cons_2, const double *cons_3, const double *cons_4, const double *q_2,
               const double *q_3, const double *q_4, double dyinv, double dzinv, int l, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + G, j = blockIdx.y * blockDim.y + threadIdx.y + G;
    int k = blockIdx.z * blockDim.z + threadIdx.z + G;
    if (i < l - G && j < m - G && k < n - G) {
        size_t c = ((size_t)k * m + j) * l + i, y = l, z = (size_t)l * m;
        AT(flux_0, i, j, k) -= d8(cons_2 + c, y, dyinv);
        AT(flux_1, i, j, k) -= d8p(cons_1 + c, q_2 + c, y, dyinv);
        AT(flux_2, i, j, k) -= d8p(cons_2 + c, q_2 + c, y, dyinv) + d8(q_4 + c, y, dyinv);
        AT(flux_3, i, j, k) -= d8p(cons_3 + c, q_2 + c, y, dyinv);
        AT(flux_4, i, j, k) -= d8p(cons_4 + c, q_2 + c, y, dyinv) + d8p(q_4 + c, q_2 + c, y, dyinv);
        AT(flux_0, i, j, k) -= d8(cons_3 + c, z, dzinv);
        AT(flux_1, i, j, k) -= d8p(cons_1 + c, q_3 + c, z, dzinv);
        AT(flux_2, i, j, k) -= d8p(cons_2 + c, q_3 + c, z, dzinv);
        AT(flux_3, i, j, k) -= d8p(cons_3 + c, q_3 + c, z, dzinv) + d8(q_4 + c, z, dzinv);
        AT(flux_4, i, j, k) -= d8p(cons_4 + c, q_3 + c, z, dzinv) + d8p(q_4 + c, q_3 + c, z, dzinv);
    }
}

// y = A x + b y with A in SELL-32-256: rows sorted by length within windows of 256, slices of 32 rows column by column,
// a thread a row, two numbers at once.
#include <stdint.h>

struct Sell {
    const int64_t *__restrict__ slice_start;
    const int *__restrict__ slice_width;
    const int *__restrict__ column;
    const double *__restrict__ value;
    const int *__restrict__ row_of;
};

template <int C>
__device__ __forceinline__ double row_dot(const Sell &a, const double *__restrict__ x, int slice, int lane) {
    const int64_t base = a.slice_start[slice];
    const int width = a.slice_width[slice];
    const int *column = a.column + base + lane;
    const double *value = a.value + base + lane;
    double s0 = 0.0, s1 = 0.0;
    int j = 0;
    for (; j + 1 < width; j += 2) {
        s0 += __ldg(value) * __ldg(&x[*column]);
        s1 += __ldg(value + C) * __ldg(&x[column[C]]);
        value += 2 * C;
        column += 2 * C;
    }
    if (j < width)
        s0 += *value * x[*column];
    return s0 + s1;
}

extern "C" __global__ void __launch_bounds__(128) sellcs(const int64_t *slice_start, const int *slice_width,
                                                         const int *column, const double *value, const int *row_of,
                                                         const double *__restrict__ x, double *__restrict__ y,
                                                         int slices, double beta) {
    const int lane = threadIdx.x & 31;
    Sell a = {slice_start, slice_width, column, value, row_of};
    for (int slice = (blockIdx.x * blockDim.x + threadIdx.x) >> 5; slice < slices;
         slice += gridDim.x * blockDim.x >> 5) {
        double sum = row_dot<32>(a, x, slice, lane);
        int row = a.row_of[slice * 32 + lane];
        if (row >= 0)
            y[row] = beta == 0.0 ? sum : sum + beta * y[row];
    }
}

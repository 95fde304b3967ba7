// Scans along a dimension: log-cumsum-exp along rows, a row of 16 threads each with twice as many elements in shared
// memory at a time; and running maxima with their places down columns, a thread for each.
template <typename T> struct LogAddExp {
    __device__ __forceinline__ T operator()(T x, T y) const {
        T lo = isnan(y) ? y : min(x, y), hi = isnan(y) ? y : max(x, y);
        if (lo != hi || isfinite(lo))
            return log1p(exp(lo - hi)) + hi;
        return x;
    }
};

template <typename scalar_t, int threads_x, int threads_y, class BinaryOp>
__device__ void scan_innermost(scalar_t (*row_bufs)[2 * threads_x], scalar_t *tgt_, const scalar_t *src_,
                               unsigned num_rows, unsigned row_size, scalar_t init, BinaryOp binary_op) {
    scalar_t *row_buf = row_bufs[threadIdx.y];
    for (unsigned block_row = blockIdx.x * blockDim.y; block_row < num_rows; block_row += blockDim.y * gridDim.x) {
        unsigned row = block_row + threadIdx.y;
        bool row_exists = row < num_rows;
        scalar_t block_total = init;
        const scalar_t *row_src = src_ + (size_t)row * row_size;
        scalar_t *row_tgt = tgt_ + (size_t)row * row_size;
        for (unsigned block_col = 0; block_col < row_size; block_col += 2 * threads_x) {
            unsigned col1 = block_col + threadIdx.x, col2 = block_col + threads_x + threadIdx.x;
            if (row_exists) {
                row_buf[threadIdx.x] = col1 < row_size ? row_src[col1] : init;
                row_buf[threads_x + threadIdx.x] = col2 < row_size ? row_src[col2] : init;
                if (threadIdx.x == 0)
                    row_buf[0] = binary_op(row_buf[0], block_total);
            }
            __syncthreads();
            for (unsigned s = 1; s <= threads_x; s <<= 1) {
                if (row_exists) {
                    unsigned a = (threadIdx.x / s) * (2 * s) + s;
                    unsigned ti = a + (threadIdx.x % s), si = a - 1;
                    row_buf[ti] = binary_op(row_buf[ti], row_buf[si]);
                }
                __syncthreads();
            }
            if (row_exists) {
                if (col1 < row_size)
                    row_tgt[col1] = row_buf[threadIdx.x];
                if (col2 < row_size)
                    row_tgt[col2] = row_buf[threads_x + threadIdx.x];
            }
            block_total = row_buf[2 * threads_x - 1];
            __syncthreads();
        }
    }
}

extern "C" __global__ void logcumsum(float *tgt, const float *src, unsigned num_rows, unsigned row_size) {
    __shared__ float sbuf[32][32];
    scan_innermost<float, 16, 32>(sbuf, tgt, src, num_rows, row_size, -INFINITY, LogAddExp<float>());
}

template <typename scalar_t, class Compare>
__device__ void scan_outer_with_indices(const scalar_t *self, scalar_t *values, long long *indices, unsigned orows,
                                        unsigned irows, unsigned row_size, scalar_t init, Compare compare) {
    for (unsigned orow = blockIdx.x; orow < orows; orow += gridDim.x) {
        for (unsigned irow = blockIdx.y * blockDim.x + threadIdx.x; irow < irows; irow += gridDim.y * blockDim.x) {
            size_t at = (size_t)orow * row_size * irows + irow;
            scalar_t out = init;
            long long out_idx = 0;
            for (long long col = 0; col < row_size; ++col) {
                scalar_t val = self[at];
                if (isnan(val) || (!isnan(out) && compare(val, out))) {
                    out = val;
                    out_idx = col;
                }
                values[at] = out;
                indices[at] = out_idx;
                at += irows;
            }
        }
    }
}

extern "C" __global__ void cummax_outer(const float *self, float *values, long long *indices, unsigned orows,
                                        unsigned irows, unsigned row_size) {
    scan_outer_with_indices<float>(self, values, indices, orows, irows, row_size, -INFINITY,
                                   [](float a, float b) { return a >= b; });
}

// Axes of a batch of blocks of doubles in another order, in three ways: the last two exchanged by tiles, first and last
// exchanged by tiles, and any order by strides and division.
template <class T, int TILE, int ROWS>
__device__ void tile_transpose(const T *__restrict__ in, T *__restrict__ out, int w, int h, size_t in_pitch,
                               size_t out_pitch, T (&tile)[TILE][TILE + 1]) {
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
        if (x < w && y + j < h)
            tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * in_pitch + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
        if (x < h && y + j < w)
            out[(size_t)(y + j) * out_pitch + x] = tile[threadIdx.x][threadIdx.y + j];
}

// in[d0][d1][d2] to out[d0][d2][d1].
extern "C" __global__ void permute_021(const double *in, double *out, int d0, int d1, int d2) {
    __shared__ double tile[32][33];
    const size_t layer = (size_t)blockIdx.z * d1 * d2;
    tile_transpose<double, 32, 8>(in + layer, out + layer, d2, d1, d2, d1, tile);
}

// in[d0][d1][d2] to out[d2][d1][d0].
extern "C" __global__ void permute_210(const double *in, double *out, int d0, int d1, int d2) {
    __shared__ double tile[32][33];
    const size_t z = blockIdx.z;
    tile_transpose<double, 32, 8>(in + z * d2, out + z * d0, d2, d0, (size_t)d1 * d2, (size_t)d1 * d0, tile);
}

struct Order {
    int extent[3];       // of the result
    long long stride[3]; // in the source, of the result's axes
};

extern "C" __global__ void permute_any(const double *__restrict__ in, double *__restrict__ out, Order order,
                                       long long count) {
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (long long)gridDim.x * blockDim.x) {
        long long rest = i, from = 0;
#pragma unroll
        for (int axis = 2; axis >= 0; axis--) {
            from += rest % order.extent[axis] * order.stride[axis];
            rest /= order.extent[axis];
        }
        out[i] = in[from];
    }
}

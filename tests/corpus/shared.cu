// Static and dynamic shared memory, barriers, warp operations, templates.
extern __shared__ double scratch[];
template <typename T, int N> __global__ void reduce(const T *in, T *out) {
    __shared__ T tile[N][N + 1];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[(blockIdx.x * N + y) * N + x];
    __syncthreads();
    T sum = tile[x][y];
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, d);
    scratch[y * N + x] = sum;
    if (__syncthreads_or(sum > 0)) out[blockIdx.x] = scratch[0];
    if (__any_sync(0xffffffff, sum < 0)) out[1] = __popc(__ballot_sync(0xffffffff, x & 1));
}
template __global__ void reduce<float, 32>(const float *, float *);
template __global__ void reduce<int, 16>(const int *, int *);
template __global__ void reduce<double, 8>(const double *, double *);

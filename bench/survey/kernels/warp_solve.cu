// Many systems of 24 equations, one a warp: each lane has a row in registers, pivots are found by a reduction of the
// whole warp and rows stay where they are.
constexpr unsigned ALL = 0xffffffffu;

template <int N>
__device__ void solve(const float *__restrict__ matrices, const float *__restrict__ rhs, float *__restrict__ factors,
                      float *__restrict__ solutions, int *__restrict__ pivots, float *__restrict__ log_det, int count) {
    static_assert(N <= 32 && N % 4 == 0, "a row a lane");
    const int lane = threadIdx.x & 31, system = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (system >= count)
        return;
    const bool has_row = lane < N;
    float a[N], b = 0.f;
#pragma unroll
    for (int j = 0; j < N; j += 4) {
        float4 four = make_float4(0.f, 0.f, 0.f, 0.f);
        if (has_row)
            four = *reinterpret_cast<const float4 *>(matrices + ((size_t)system * N + lane) * N + j);
        a[j] = four.x;
        a[j + 1] = four.y;
        a[j + 2] = four.z;
        a[j + 3] = four.w;
    }
    if (has_row)
        b = rhs[system * N + lane];

    int place = -1;
    float log_sum = 0.f;
#pragma unroll
    for (int k = 0; k < N; k++) {
        const bool free = has_row && place < 0;
        unsigned size = free ? __float_as_uint(fabsf(a[k])) : 0u;
        unsigned most = __reduce_max_sync(ALL, size);
        int row = __ffs(__ballot_sync(ALL, free && size == most)) - 1;
        if (lane == row)
            place = k;
        float pivot = __shfl_sync(ALL, a[k], row);
        log_sum += __logf(fabsf(pivot));
        float by = free && lane != row ? a[k] / pivot : 0.f;
#pragma unroll
        for (int j = k + 1; j < N; j++)
            a[j] -= by * __shfl_sync(ALL, a[j], row);
        b -= by * __shfl_sync(ALL, b, row);
        if (free && lane != row)
            a[k] = by;
    }
    float x = 0.f;
#pragma unroll
    for (int k = N - 1; k >= 0; k--) {
        int row = __ffs(__ballot_sync(ALL, place == k)) - 1;
        float value = __shfl_sync(ALL, b / a[k], row);
        if (place < k)
            b -= a[k] * value;
        if (lane == k)
            x = value;
    }
    if (has_row) {
        solutions[system * N + lane] = x;
        pivots[system * N + place] = lane;
#pragma unroll
        for (int j = 0; j < N; j += 4)
            *reinterpret_cast<float4 *>(factors + ((size_t)system * N + place) * N + j) =
                make_float4(a[j], a[j + 1], a[j + 2], a[j + 3]);
    }
    if (lane == 0)
        log_det[system] = log_sum;
}

extern "C" __global__ void __launch_bounds__(128) solve_24(const float *__restrict__ matrices,
                                                           const float *__restrict__ rhs, float *__restrict__ factors,
                                                           float *__restrict__ solutions, int *__restrict__ pivots,
                                                           float *__restrict__ log_det, int count) {
    solve<24>(matrices, rhs, factors, solutions, pivots, log_det, count);
}

// A Gaussian of eleven taps on pictures of four channels, rows, then columns; beyond borders the picture is mirrored.
// Each thread makes four pixels of a tile with halos.
#define RADIUS 5
#define STEPS 4

__constant__ float taps[RADIUS + 1] = {0.19949f, 0.17603f, 0.12094f, 0.06470f, 0.02694f, 0.01172f};

__device__ __forceinline__ int mirrored(int i, int n) {
    while (i < 0 || i >= n)
        i = i < 0 ? -i - 1 : 2 * n - 1 - i;
    return i;
}

__device__ __forceinline__ float4 widen(uchar4 p) {
    return make_float4(p.x, p.y, p.z, p.w);
}

__device__ __forceinline__ void mad(float4 &s, float k, float4 a) {
    s.x += k * a.x;
    s.y += k * a.y;
    s.z += k * a.z;
    s.w += k * a.w;
}

__device__ __forceinline__ float4 operator+(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

template <int R>
__device__ __forceinline__ float4 filter(const float4 *at, int stride) {
    float4 sum = make_float4(0, 0, 0, 0);
    mad(sum, taps[0], at[0]);
#pragma unroll
    for (int r = 1; r <= R; r++)
        mad(sum, taps[r], at[-r * stride] + at[r * stride]);
    return sum;
}

// Blocks of 32 x 4.
extern "C" __global__ void mirror_rows(const uchar4 *__restrict__ in, float4 *__restrict__ mid, int w, int h) {
    __shared__ float4 line[4][32 * STEPS + 2 * RADIUS];
    const int x0 = blockIdx.x * 32 * STEPS, y = blockIdx.y * 4 + threadIdx.y;
    if (y < h)
        for (int i = threadIdx.x; i < 32 * STEPS + 2 * RADIUS; i += 32)
            line[threadIdx.y][i] = widen(in[(size_t)y * w + mirrored(x0 + i - RADIUS, w)]);
    __syncthreads();
    if (y >= h)
        return;
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        int i = threadIdx.x + s * 32;
        if (x0 + i < w)
            mid[(size_t)y * w + x0 + i] = filter<RADIUS>(&line[threadIdx.y][i + RADIUS], 1);
    }
}

__device__ __forceinline__ unsigned char rounded(float v) {
    return (unsigned char)min(max(__float2int_rn(v), 0), 255);
}

// Blocks of 16 x 8.
extern "C" __global__ void mirror_columns(const float4 *__restrict__ mid, uchar4 *__restrict__ out, int w, int h) {
    __shared__ float4 tile[8 * STEPS + 2 * RADIUS][16];
    const int x = blockIdx.x * 16 + threadIdx.x, y0 = blockIdx.y * 8 * STEPS;
    if (x < w)
        for (int i = threadIdx.y; i < 8 * STEPS + 2 * RADIUS; i += 8)
            tile[i][threadIdx.x] = mid[(size_t)mirrored(y0 + i - RADIUS, h) * w + x];
    __syncthreads();
    if (x >= w)
        return;
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        int i = threadIdx.y + s * 8;
        if (y0 + i < h) {
            float4 v = filter<RADIUS>(&tile[i + RADIUS][threadIdx.x], 16);
            out[(size_t)(y0 + i) * w + x] = make_uchar4(rounded(v.x), rounded(v.y), rounded(v.z), rounded(v.w));
        }
    }
}

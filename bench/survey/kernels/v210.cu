// Video of 10 bits: v210 (six pixels in 16 bytes, 4:2:2) into RGBA of 8 bits by a matrix in fixed point, chroma
// between two samples by their mean; then a proxy of half the size by packed averages.
struct Matrix {
    int luma, red_v, green_u, green_v, blue_u;
};

__device__ constexpr Matrix REC709 = {9539, 14688, -1747, -4366, 17305};  // 13 bits after the point
__device__ constexpr Matrix REC601 = {9539, 13075, -3209, -6660, 16525};

__device__ __forceinline__ unsigned int clamp8(int v) {
    return (unsigned int)min(max(v, 0), 255);
}

__device__ __forceinline__ uchar4 convert(const Matrix &m, int y, int u, int v) {
    int l = (y - 64) * m.luma + (1 << 14);
    u -= 512;
    v -= 512;
    return make_uchar4(clamp8((l + m.red_v * v) >> 15), clamp8((l + m.green_u * u + m.green_v * v) >> 15),
                       clamp8((l + m.blue_u * u) >> 15), 255);
}

extern "C" __global__ void v210_rgba(const uint4 *__restrict__ frame, uchar4 *__restrict__ rgba, int width, int height,
                                     int row_groups, int hd) {
    int g = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int groups = (width + 5) / 6;
    if (g >= groups || row >= height)
        return;
    const Matrix &m = hd ? REC709 : REC601;
    uint4 q = frame[(size_t)row * row_groups + g];
    int luma[6] = {(int)(q.x >> 10 & 1023), (int)(q.y & 1023),      (int)(q.y >> 20 & 1023),
                   (int)(q.z >> 10 & 1023), (int)(q.w & 1023), (int)(q.w >> 20 & 1023)};
    int u[4] = {(int)(q.x & 1023), (int)(q.y >> 10 & 1023), (int)(q.z >> 20 & 1023), 0};
    int v[4] = {(int)(q.x >> 20 & 1023), (int)(q.z & 1023), (int)(q.w >> 10 & 1023), 0};
    if (g + 1 < groups) {
        unsigned int next = frame[(size_t)row * row_groups + g + 1].x;
        u[3] = next & 1023;
        v[3] = next >> 20 & 1023;
    } else {
        u[3] = u[2];
        v[3] = v[2];
    }
    uchar4 *to = rgba + (size_t)row * width + 6 * g;
#pragma unroll
    for (int k = 0; k < 6; k++) {
        if (6 * g + k >= width)
            break;
        int c = k / 2;
        to[k] = k & 1 ? convert(m, luma[k], (u[c] + u[c + 1] + 1) >> 1, (v[c] + v[c + 1] + 1) >> 1)
                      : convert(m, luma[k], u[c], v[c]);
    }
}

extern "C" __global__ void proxy(const unsigned int *__restrict__ rgba, unsigned int *__restrict__ small, int width,
                                 int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width / 2 || y >= height / 2)
        return;
    const unsigned int *from = rgba + (size_t)(2 * y) * width + 2 * x;
    unsigned int top = __vavgu4(from[0], from[1]), bottom = __vavgu4(from[width], from[width + 1]);
    small[(size_t)y * (width / 2) + x] = __vavgu4(top, bottom);
}

// Stereo by semi-global matching: census of 9 x 7 pixels, costs of 64 disparities, sums along paths in four directions
// (a warp a path, two disparities a lane), then the winner with a test of uniqueness and 1/16 of a pixel.
#include <stdint.h>
#define DISPARITIES 64
#define FULL 0xffffffffu

extern "C" __global__ void census9x7(const uint8_t *__restrict__ image, uint64_t *__restrict__ out, int w, int h) {
    __shared__ uint8_t tile[8 + 6][32 + 8];
    const int x0 = blockIdx.x * 32 - 4, y0 = blockIdx.y * 8 - 3;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 14 * 40; i += 256) {
        int x = x0 + i % 40, y = y0 + i / 40;
        tile[i / 40][i % 40] = x >= 0 && y >= 0 && x < w && y < h ? image[y * w + x] : 0;
    }
    __syncthreads();
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const uint8_t centre = tile[threadIdx.y + 3][threadIdx.x + 4];
    uint64_t bits = 0;
#pragma unroll
    for (int dy = 0; dy < 7; dy++)
#pragma unroll
        for (int dx = 0; dx < 9; dx++)
            if (dx != 4 || dy != 3)
                bits = bits << 1 | (tile[threadIdx.y + dy][threadIdx.x + dx] > centre);
    out[y * w + x] = bits;
}

extern "C" __global__ void match_cost(const uint64_t *__restrict__ left, const uint64_t *__restrict__ right,
                                      uint8_t *__restrict__ cost, int w, int h) {
    const int d = threadIdx.x, x = blockIdx.x * blockDim.y + threadIdx.y, y = blockIdx.y;
    if (x >= w)
        return;
    const uint64_t own = left[y * w + x];
    cost[((size_t)y * w + x) * DISPARITIES + d] = x >= d ? __popcll(own ^ right[y * w + x - d]) : 64;
}

template <int DX, int DY>
__device__ void aggregate(const uint8_t *cost, uint8_t *out, int w, int h, int p1, int p2) {
    const int lane = threadIdx.x & 31;
    const int path = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    const int paths = DX ? h : w, length = DX ? w : h;
    if (path >= paths)
        return;
    int x = DX ? (DX > 0 ? 0 : w - 1) : path, y = DY ? (DY > 0 ? 0 : h - 1) : path;
    int a = 0, b = 0, least = 0;
    for (int i = 0; i < length; i++, x += DX, y += DY) {
        const size_t at = ((size_t)y * w + x) * DISPARITIES + 2 * lane;
        const uchar2 c = *reinterpret_cast<const uchar2 *>(cost + at);
        int below = __shfl_up_sync(FULL, b, 1), above = __shfl_down_sync(FULL, a, 1);
        if (lane == 0)
            below = 1 << 20;
        if (lane == 31)
            above = 1 << 20;
        const int jump = least + p2;
        const int na = c.x + min(min(a, jump), min(below, b) + p1) - least;
        const int nb = c.y + min(min(b, jump), min(a, above) + p1) - least;
        a = na, b = nb;
        least = min(a, b);
        for (int offset = 16; offset > 0; offset >>= 1)
            least = min(least, __shfl_xor_sync(FULL, least, offset));
        *reinterpret_cast<uchar2 *>(out + at) = make_uchar2(a, b);
    }
}

extern "C" __global__ void path_right(const uint8_t *cost, uint8_t *out, int w, int h, int p1, int p2) {
    aggregate<1, 0>(cost, out, w, h, p1, p2);
}
extern "C" __global__ void path_left(const uint8_t *cost, uint8_t *out, int w, int h, int p1, int p2) {
    aggregate<-1, 0>(cost, out, w, h, p1, p2);
}
extern "C" __global__ void path_down(const uint8_t *cost, uint8_t *out, int w, int h, int p1, int p2) {
    aggregate<0, 1>(cost, out, w, h, p1, p2);
}
extern "C" __global__ void path_up(const uint8_t *cost, uint8_t *out, int w, int h, int p1, int p2) {
    aggregate<0, -1>(cost, out, w, h, p1, p2);
}

extern "C" __global__ void winner(const uint8_t *__restrict__ right, const uint8_t *__restrict__ left,
                                  const uint8_t *__restrict__ down, const uint8_t *__restrict__ up,
                                  uint16_t *__restrict__ disparity, int pixels, int uniqueness) {
    const int lane = threadIdx.x & 31, pixel = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (pixel >= pixels)
        return;
    const uint8_t *paths[4] = {right, left, down, up};
    const size_t at = (size_t)pixel * DISPARITIES + 2 * lane;
    uint32_t s0 = 0, s1 = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uchar2 v = *reinterpret_cast<const uchar2 *>(paths[k] + at);
        s0 += v.x;
        s1 += v.y;
    }
    const uint32_t key0 = s0 << 16 | 2 * lane, key1 = s1 << 16 | (2 * lane + 1);
    const uint32_t best = __reduce_min_sync(FULL, min(key0, key1));
    const int d = best & 0xffff, cost = best >> 16;
    const bool rival = (abs(2 * lane - d) > 1 && (int)s0 * (100 - uniqueness) < cost * 100) ||
                       (abs(2 * lane + 1 - d) > 1 && (int)s1 * (100 - uniqueness) < cost * 100);
    const bool ambiguous = __any_sync(FULL, rival);
    const int lower = max(d - 1, 0), upper = min(d + 1, DISPARITIES - 1);
    const int l0 = __shfl_sync(FULL, s0, lower >> 1), l1 = __shfl_sync(FULL, s1, lower >> 1);
    const int u0 = __shfl_sync(FULL, s0, upper >> 1), u1 = __shfl_sync(FULL, s1, upper >> 1);
    if (lane == 0) {
        int result = 0xffff;
        if (!ambiguous) {
            result = d * 16;
            if (d > 0 && d < DISPARITIES - 1) {
                const int left = lower & 1 ? l1 : l0, right = upper & 1 ? u1 : u0;
                const int numerator = left - right, denominator = left - 2 * cost + right;
                if (denominator > 0)
                    result += (numerator * 16 + denominator) / (2 * denominator);
            }
        }
        disparity[pixel] = result;
    }
}

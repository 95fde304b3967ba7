// Stereo by the census transform: 9 x 7 comparisons a pixel in 64 bits (shared tile with a halo), costs summed over 5
// pixels of a row, the best of the disparities for left and for right, and a check of one against the other.
#include <cstdint>
#define RX 4
#define RY 3
#define BX 32
#define BY 8
#define SUM 2
#define MAX_DISP 64

extern "C" __global__ void census(const uint8_t *__restrict__ image, uint64_t *__restrict__ codes, int w, int h) {
    __shared__ uint8_t tile[BY + 2 * RY][BX + 2 * RX];
    int x0 = blockIdx.x * BX - RX, y0 = blockIdx.y * BY - RY;
    for (int i = threadIdx.y * BX + threadIdx.x; i < (BY + 2 * RY) * (BX + 2 * RX); i += BX * BY) {
        int tx = i % (BX + 2 * RX), ty = i / (BX + 2 * RX);
        int x = min(max(x0 + tx, 0), w - 1), y = min(max(y0 + ty, 0), h - 1);
        tile[ty][tx] = image[y * w + x];
    }
    __syncthreads();
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h)
        return;
    uint8_t centre = tile[threadIdx.y + RY][threadIdx.x + RX];
    uint64_t code = 0;
#pragma unroll
    for (int dy = 0; dy <= 2 * RY; dy++)
#pragma unroll
        for (int dx = 0; dx <= 2 * RX; dx++)
            if (dy != RY || dx != RX)
                code = code << 1 | (tile[threadIdx.y + dy][threadIdx.x + dx] < centre);
    codes[y * w + x] = code;
}

// A block a row's 128 pixels; codes of the other picture with MAX_DISP more on one side in shared memory.
template <int SIGN>
__device__ void match(const uint64_t *__restrict__ mine, const uint64_t *__restrict__ other,
                      uint8_t *__restrict__ disparity, int w, int disparities) {
    __shared__ uint64_t own[128 + 2 * SUM], them[128 + 2 * SUM + MAX_DISP];
    const int y = blockIdx.y, x0 = blockIdx.x * 128;
    const int from = SIGN < 0 ? x0 - SUM - MAX_DISP : x0 - SUM;
    for (int i = threadIdx.x; i < 128 + 2 * SUM; i += 128)
        own[i] = mine[y * w + min(max(x0 - SUM + i, 0), w - 1)];
    for (int i = threadIdx.x; i < 128 + 2 * SUM + MAX_DISP; i += 128)
        them[i] = other[y * w + min(max(from + i, 0), w - 1)];
    __syncthreads();
    int x = x0 + threadIdx.x;
    if (x >= w)
        return;
    int best = 1 << 30, best_d = 0, second = 1 << 30;
    for (int d = 0; d < disparities; d++) {
        int cost = 0;
        const int shift = SIGN < 0 ? MAX_DISP - d : d;
#pragma unroll
        for (int i = 0; i <= 2 * SUM; i++)
            cost += __popcll(own[threadIdx.x + i] ^ them[threadIdx.x + i + shift]);
        if (cost < best) {
            second = d - best_d > 1 ? best : second;
            best = cost;
            best_d = d;
        } else if (d - best_d > 1 && cost < second) {
            second = cost;
        }
    }
    bool unique = best * 20 <= second * 19;
    disparity[y * w + x] = unique ? best_d : 255;
}

extern "C" __global__ void match_left(const uint64_t *left, const uint64_t *right, uint8_t *disparity, int w,
                                      int disparities) {
    match<-1>(left, right, disparity, w, disparities);
}

extern "C" __global__ void match_right(const uint64_t *right, const uint64_t *left, uint8_t *disparity, int w,
                                       int disparities) {
    match<1>(right, left, disparity, w, disparities);
}

extern "C" __global__ void check_lr(const uint8_t *__restrict__ left, const uint8_t *__restrict__ right,
                                    uint8_t *__restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int d = left[y * w + x];
    bool good = d != 255 && x >= d;
    if (good) {
        int r = right[y * w + x - d];
        good = r != 255 && abs(r - d) <= 1;
    }
    out[y * w + x] = good ? d : 0;
}

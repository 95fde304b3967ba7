// Targets in a radar's map of ranges and Doppler frequencies: powers of complex samples of 16 bits, then cells above
// the average around them by a constant rate of false alarms (CFAR), of which the largest of 3 x 3 are listed.
#include <stdint.h>

#define TILE 16

struct Detection {
    unsigned long long place;  // row, column and the ratio to the average, in sixteenths
};

template <int TRAIN, int GUARD>
__device__ void detect(const uint32_t *__restrict__ power, Detection *__restrict__ detections, int *count, int rows,
                       int columns, int threshold, int most) {
    constexpr int HALO = TRAIN + GUARD, SIDE = TILE + 2 * HALO;
    constexpr int CELLS = (2 * HALO + 1) * (2 * HALO + 1) - (2 * GUARD + 1) * (2 * GUARD + 1);
    __shared__ uint32_t tile[SIDE][SIDE + 1];
    const int x0 = blockIdx.x * TILE - HALO, y0 = blockIdx.y * TILE - HALO;
    for (int y = threadIdx.y; y < SIDE; y += TILE)
        for (int x = threadIdx.x; x < SIDE; x += TILE) {
            const int column = x0 + x;
            const int row = (y0 + y + rows) % rows;  // Doppler frequencies wrap around
            tile[y][x] = column >= 0 && column < columns ? power[(size_t)row * columns + column] : 0;
        }
    __syncthreads();

    const int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    if (column < HALO || column >= columns - HALO || row >= rows)
        return;
    const int cy = threadIdx.y + HALO, cx = threadIdx.x + HALO;
    const uint32_t mine = tile[cy][cx];

    unsigned long long sum = 0;
    for (int dy = -HALO; dy <= HALO; dy++) {
        uint32_t of_row = 0;
        for (int dx = -HALO; dx <= HALO; dx++) {
            if (abs(dy) <= GUARD && abs(dx) <= GUARD)
                continue;
            of_row += tile[cy + dy][cx + dx] >> 4;
        }
        sum += of_row;
    }
    // mine > threshold / 16 * average
    if ((unsigned long long)(mine >> 4) * CELLS * 16 <= (unsigned long long)threshold * sum)
        return;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const uint32_t other = tile[cy + dy][cx + dx];
            const bool earlier = dy < 0 || (dy == 0 && dx < 0);
            if (other > mine || (earlier && other == mine))
                return;
        }
    const int at = atomicAdd(count, 1);
    if (at < most) {
        unsigned long long ratio = (unsigned long long)(mine >> 4) * CELLS * 16 / (sum > 0 ? sum : 1);
        ratio = ratio < 65535 ? ratio : 65535;
        detections[at].place = (unsigned long long)row << 32 | (unsigned long long)column << 16 | ratio;
    }
}

extern "C" __global__ void powers(const short2 *__restrict__ samples, uint32_t *__restrict__ power, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const short2 s = samples[i];
        power[i] = (uint32_t)(s.x * s.x) + (uint32_t)(s.y * s.y);
    }
}

extern "C" __global__ void cfar_fine(const uint32_t *power, Detection *detections, int *count, int rows, int columns,
                                     int threshold, int most) {
    detect<4, 1>(power, detections, count, rows, columns, threshold, most);
}

extern "C" __global__ void cfar_coarse(const uint32_t *power, Detection *detections, int *count, int rows,
                                       int columns, int threshold, int most) {
    detect<6, 3>(power, detections, count, rows, columns, threshold, most);
}

// The constrained directional enhancement filter of AV1 for 10-bit luma: a block of 64 threads for each 8 x 8: the
// direction by variances along eight ways, then primary taps along it and secondary taps at 45 degrees.
#define WIDTH 14
#define LARGE 30000

__constant__ signed char DIRECTIONS[8][2][2] = {{{-1, 1}, {-2, 2}}, {{0, 1}, {-1, 2}}, {{0, 1}, {0, 2}},
                                                {{0, 1}, {1, 2}},   {{1, 1}, {2, 2}},  {{1, 0}, {2, 1}},
                                                {{1, 0}, {2, 0}},   {{1, 0}, {2, -1}}};
__constant__ int DIVISORS[9] = {0, 840, 420, 280, 210, 168, 140, 120, 105};

__device__ __forceinline__ int line_of(int direction, int i, int j) {
    switch (direction) {
    case 0:
        return i + j;
    case 1:
        return i + j / 2;
    case 2:
        return i;
    case 3:
        return 3 + i - j / 2;
    case 4:
        return 7 + i - j;
    case 5:
        return 3 - i / 2 + j;
    case 6:
        return j;
    default:
        return i / 2 + j;
    }
}

__device__ __forceinline__ int constrain(int diff, int threshold, int damping) {
    if (!threshold)
        return 0;
    int shift = max(0, damping - (31 - __clz(threshold)));
    int a = abs(diff);
    int c = min(a, max(0, threshold - (a >> shift)));
    return diff < 0 ? -c : c;
}

extern "C" __global__ void __launch_bounds__(64)
    cdef8(const unsigned short *__restrict__ source, unsigned short *__restrict__ target,
          const unsigned char *__restrict__ skip, const uchar2 *__restrict__ strengths,
          unsigned char *__restrict__ directions, int w, int h, int damping, int depth) {
    __shared__ short tile[WIDTH][WIDTH];
    __shared__ int partial[8][15];
    __shared__ int cost[8];
    __shared__ int chosen[2];
    const int tid = threadIdx.x, tx = tid & 7, ty = tid >> 3;
    const int bx = blockIdx.x, by = blockIdx.y;
    const int x = bx * 8 + tx, y = by * 8 + ty;
    const int unit = by * gridDim.x + bx;
    if (skip[unit]) {
        target[y * w + x] = source[y * w + x];
        if (tid == 0)
            directions[unit] = 255;
        return;
    }
    for (int k = tid; k < WIDTH * WIDTH; k += 64) {
        int gx = bx * 8 + k % WIDTH - 3, gy = by * 8 + k / WIDTH - 3;
        tile[k / WIDTH][k % WIDTH] = gx >= 0 && gx < w && gy >= 0 && gy < h ? (short)source[gy * w + gx] : LARGE;
    }
    for (int k = tid; k < 8 * 15; k += 64)
        (&partial[0][0])[k] = 0;
    if (tid < 8)
        cost[tid] = 0;
    __syncthreads();
    const int shift = depth - 8;
    int pixel = (tile[ty + 3][tx + 3] >> shift) - 128;
#pragma unroll
    for (int d = 0; d < 8; d++)
        atomicAdd(&partial[d][line_of(d, ty, tx)], pixel);
    __syncthreads();
    if (tid < 8) {
        int sum = 0;
        switch (tid) {
        case 2:
        case 6:
            for (int i = 0; i < 8; i++)
                sum += partial[tid][i] * partial[tid][i];
            sum *= DIVISORS[8];
            break;
        case 0:
        case 4:
            for (int i = 0; i < 7; i++)
                sum += (partial[tid][i] * partial[tid][i] + partial[tid][14 - i] * partial[tid][14 - i]) *
                       DIVISORS[i + 1];
            sum += partial[tid][7] * partial[tid][7] * DIVISORS[8];
            break;
        default:
            for (int i = 0; i < 5; i++)
                sum += partial[tid][3 + i] * partial[tid][3 + i];
            sum *= DIVISORS[8];
            for (int i = 0; i < 3; i++)
                sum += (partial[tid][i] * partial[tid][i] + partial[tid][10 - i] * partial[tid][10 - i]) *
                       DIVISORS[2 * i + 2];
        }
        cost[tid] = sum;
    }
    __syncthreads();
    if (tid == 0) {
        int best = 0;
        for (int d = 1; d < 8; d++)
            if (cost[d] > cost[best])
                best = d;
        chosen[0] = best;
        chosen[1] = (cost[best] - cost[(best + 4) & 7]) >> 10;
        directions[unit] = (unsigned char)best;
    }
    __syncthreads();
    const int dir = chosen[0], variance = chosen[1] >> 6;
    int primary = strengths[unit].x << shift;
    const int secondary = strengths[unit].y << shift;
    const int log_variance = variance ? min(31 - __clz(variance), 12) : 0;
    primary = variance ? (primary * (4 + log_variance) + 8) >> 4 : 0;
    const int centre = tile[ty + 3][tx + 3];
    const int odd = (primary >> shift) & 1;
    int sum = 0, low = centre, high = centre;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int tap = odd ? 3 : (k ? 2 : 4);
#pragma unroll
        for (int s = -1; s <= 1; s += 2) {
            int p = tile[ty + 3 + s * DIRECTIONS[dir][k][0]][tx + 3 + s * DIRECTIONS[dir][k][1]];
            if (p != LARGE) {
                sum += tap * constrain(p - centre, primary, damping + shift);
                low = min(low, p);
                high = max(high, p);
            }
#pragma unroll
            for (int side = 0; side < 2; side++) {
                int d2 = (dir + (side ? 2 : 6)) & 7;
                int q = tile[ty + 3 + s * DIRECTIONS[d2][k][0]][tx + 3 + s * DIRECTIONS[d2][k][1]];
                if (q != LARGE) {
                    sum += (2 - k) * constrain(q - centre, secondary, damping + shift);
                    low = min(low, q);
                    high = max(high, q);
                }
            }
        }
    }
    int value = centre + ((8 + sum - (sum < 0)) >> 4);
    target[y * w + x] = (unsigned short)min(max(value, low), high);
}

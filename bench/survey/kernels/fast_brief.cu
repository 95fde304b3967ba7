// Corners by FAST-9 with a score, the greatest of 3 x 3, and upright BRIEF: a warp a corner, a ballot a word.
#define FULL 0xffffffffu

__constant__ signed char ring[16][2] = {{0, -3}, {1, -3}, {2, -2}, {3, -1}, {3, 0},  {3, 1},   {2, 2},   {1, 3},
                                        {0, 3},  {-1, 3}, {-2, 2}, {-3, 1}, {-3, 0}, {-3, -1}, {-2, -2}, {-1, -3}};

__device__ __forceinline__ bool nine_in_a_row(unsigned int m) {
    m |= m << 16;
    unsigned int m9 = m >> 8;
    m &= m >> 1; // 2
    m &= m >> 2; // 4
    m &= m >> 4; // 8
    return (m & m9) != 0;
}

extern "C" __global__ void fast_score(const unsigned char *__restrict__ image, unsigned short *__restrict__ score, int w,
                                      int h, int threshold) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    unsigned int best = 0;
    if (x >= 3 && y >= 3 && x < w - 3 && y < h - 3) {
        const unsigned char *at = image + y * w + x;
        int c = *at;
        unsigned int brighter = 0, darker = 0;
        int up = 0, down = 0;
#pragma unroll
        for (int k = 0; k < 16; k++) {
            int d = at[ring[k][1] * w + ring[k][0]] - c;
            if (d > threshold) {
                brighter |= 1u << k;
                up += d - threshold;
            } else if (d < -threshold) {
                darker |= 1u << k;
                down += -d - threshold;
            }
        }
        if (nine_in_a_row(brighter) || nine_in_a_row(darker))
            best = max(up, down);
    }
    score[y * w + x] = best;
}

extern "C" __global__ void fast_list(const unsigned short *__restrict__ score, unsigned int *__restrict__ corners,
                                     unsigned int *count, int w, int h, int border) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + border, y = blockIdx.y * blockDim.y + threadIdx.y + border;
    if (x >= w - border || y >= h - border)
        return;
    int s = score[y * w + x];
    if (s == 0)
        return;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int other = score[(y + dy) * w + x + dx];
            if (other > s || (other == s && (dy < 0 || (dy == 0 && dx < 0))))
                return;
        }
    corners[atomicAdd(count, 1u)] = y << 16 | x;
}

extern "C" __global__ void brief(const unsigned char *__restrict__ image, const unsigned int *__restrict__ corners,
                                 const unsigned int *__restrict__ count, const char4 *__restrict__ pairs,
                                 unsigned int *__restrict__ descriptor, int w) {
    const int lane = threadIdx.x & 31, warps = gridDim.x * blockDim.x / 32;
    const int total = *count;
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < total; i += warps) {
        unsigned int corner = corners[i];
        const unsigned char *at = image + (corner >> 16) * w + (corner & 0xffff);
        unsigned int mine = 0;
        for (int word = 0; word < 8; word++) {
            char4 p = pairs[word * 32 + lane];
            unsigned int bits = __ballot_sync(FULL, at[p.y * w + p.x] < at[p.w * w + p.z]);
            if (lane == word)
                mine = bits;
        }
        if (lane < 8)
            descriptor[i * 8 + lane] = mine;
    }
}

// Marching squares: cells are classified, places for their segments found by a scan, and the segments written.
__constant__ signed char table[16][4] = {
    {-1, -1, -1, -1}, {3, 0, -1, -1}, {0, 1, -1, -1}, {3, 1, -1, -1}, {1, 2, -1, -1}, {3, 0, 1, 2},
    {0, 2, -1, -1},   {3, 2, -1, -1}, {2, 3, -1, -1}, {2, 0, -1, -1}, {0, 1, 2, 3},   {2, 1, -1, -1},
    {1, 3, -1, -1},   {1, 0, -1, -1}, {0, 3, -1, -1}, {-1, -1, -1, -1}};

// Sum of what the threads before this one have; `total` is what all have.
__device__ int block_scan(int value, int *total) {
    __shared__ int sums[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    int sum = value;
    for (int d = 1; d < 32; d <<= 1) {
        int below = __shfl_up_sync(0xffffffff, sum, d);
        if (lane >= d)
            sum += below;
    }
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        int s = lane < warps ? sums[lane] : 0;
        for (int d = 1; d < 32; d <<= 1) {
            int below = __shfl_up_sync(0xffffffff, s, d);
            if (lane >= d)
                s += below;
        }
        sums[lane] = s;
    }
    __syncthreads();
    *total = sums[warps - 1];
    int before = warp > 0 ? sums[warp - 1] : 0;
    __syncthreads();
    return before + sum - value;
}

extern "C" __global__ void classify(const float *field, unsigned char *kind, int *block_count, int nx, int ny,
                                    float iso) {
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    int segments = 0;
    if (cell < (nx - 1) * (ny - 1)) {
        int x = cell % (nx - 1), y = cell / (nx - 1);
        const float *p = field + y * nx + x;
        int k = 0;
        if (p[0] > iso)
            k |= 1;
        if (p[1] > iso)
            k |= 2;
        if (p[nx + 1] > iso)
            k |= 4;
        if (p[nx] > iso)
            k |= 8;
        kind[cell] = k;
        segments = (table[k][0] >= 0) + (table[k][2] >= 0);
    }
    int total;
    block_scan(segments, &total);
    if (threadIdx.x == 0)
        block_count[blockIdx.x] = total;
}

// One CTA, which goes through the counts of all blocks.
extern "C" __global__ void scan_counts(int *block_count, int *total_count, int blocks) {
    int carry = 0;
    for (int start = 0; start < blocks; start += blockDim.x) {
        int i = start + threadIdx.x;
        int total;
        int before = block_scan(i < blocks ? block_count[i] : 0, &total);
        if (i < blocks)
            block_count[i] = carry + before;
        carry += total;
    }
    if (threadIdx.x == 0)
        *total_count = carry;
}

__device__ float2 crossing(const float *field, int nx, int x, int y, int edge, float iso) {
    int ax = edge == 1 ? x + 1 : x, ay = edge == 2 ? y + 1 : y;
    int bx = edge == 3 ? x : x + 1, by = edge == 0 ? y : y + 1;
    float a = field[ay * nx + ax], b = field[by * nx + bx];
    float t = (iso - a) / (b - a);
    return make_float2(ax + t * (bx - ax), ay + t * (by - ay));
}

extern "C" __global__ void generate(const float *field, const unsigned char *kind, const int *block_offset,
                                    float4 *segments, int nx, int ny, float iso) {
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    bool inside = cell < (nx - 1) * (ny - 1);
    int k = inside ? kind[cell] : 0;
    int count = (table[k][0] >= 0) + (table[k][2] >= 0);
    int total;
    int at = block_offset[blockIdx.x] + block_scan(count, &total);
    int x = cell % (nx - 1), y = cell / (nx - 1);
    for (int s = 0; s < count; s++) {
        float2 from = crossing(field, nx, x, y, table[k][2 * s], iso);
        float2 to = crossing(field, nx, x, y, table[k][2 * s + 1], iso);
        segments[at + s] = make_float4(from.x, from.y, to.x, to.y);
    }
}

// A sparse matrix in coordinates, sorted by rows, by a vector: each warp takes a stretch of entries and adds those of a
// row by a segmented scan; only what a row has at the ends of a stretch goes by atomics.
#define WARP 32
#define FULL 0xffffffffu

extern "C" __global__ void coo_clear(float *y, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows)
        y[i] = 0.0f;
}

extern "C" __global__ void coo_seg(const int *__restrict__ row, const int *__restrict__ column,
                                   const float *__restrict__ value, const float *__restrict__ x, float *y, int entries,
                                   int per_warp) {
    const int lane = threadIdx.x & (WARP - 1);
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    const int begin = warp * per_warp, end = min(begin + per_warp, entries);
    if (begin >= end)
        return;
    const int first_row = row[begin], last_row = row[end - 1];
    int open_row = first_row;  // whose sum is not yet written
    float open_sum = 0.0f;

    for (int base = begin; base < end; base += WARP) {
        const int i = base + lane;
        const bool valid = i < end;
        int r = valid ? row[i] : last_row;
        float sum = valid ? value[i] * x[column[i]] : 0.0f;
        const int head = __shfl_sync(FULL, r, 0);
        if (head == open_row) {
            if (lane == 0)
                sum += open_sum;
        } else if (lane == 0) {
            if (open_row == first_row)
                atomicAdd(&y[open_row], open_sum);
            else
                y[open_row] = open_sum;
        }
#pragma unroll
        for (int d = 1; d < WARP; d <<= 1) {
            float other = __shfl_up_sync(FULL, sum, d);
            int other_row = __shfl_up_sync(FULL, r, d);
            if (lane >= d && other_row == r)
                sum += other;
        }
        int after = __shfl_down_sync(FULL, r, 1);
        if (lane < WARP - 1 && after != r) {
            if (r == first_row)
                atomicAdd(&y[r], sum);
            else
                y[r] = sum;
        }
        open_row = __shfl_sync(FULL, r, WARP - 1);
        open_sum = __shfl_sync(FULL, sum, WARP - 1);
    }
    if (lane == 0)
        atomicAdd(&y[open_row], open_sum);
}

// Hogbom's CLEAN for a radio telescope's picture: round by round the brightest pixel is looked for, in two launches, and
// a share of the beam is taken away around it.
#define THREADS 256

struct Peak {
    int pos;
    float val;
};

__device__ inline Peak brighter(Peak a, Peak b) {
    float x = fabsf(a.val), y = fabsf(b.val);
    if (y > x || (y == x && b.pos < a.pos))
        return b;
    return a;
}

__device__ Peak block_peak(Peak mine) {
    __shared__ Peak peaks[THREADS];
    peaks[threadIdx.x] = mine;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            peaks[threadIdx.x] = brighter(peaks[threadIdx.x], peaks[threadIdx.x + s]);
        __syncthreads();
    }
    return peaks[0];
}

extern "C" __global__ void find_peak(const float *__restrict__ residual, size_t n, Peak *block_peaks) {
    Peak mine = {0, 0.0f};
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        Peak p = {(int)i, residual[i]};
        mine = brighter(mine, p);
    }
    Peak best = block_peak(mine);
    if (threadIdx.x == 0)
        block_peaks[blockIdx.x] = best;
}

extern "C" __global__ void take_peak(const Peak *__restrict__ block_peaks, int blocks, Peak *peak, float *model,
                                     float gain, float threshold, int *rounds) {
    Peak mine = {0, 0.0f};
    for (int i = threadIdx.x; i < blocks; i += blockDim.x)
        mine = brighter(mine, block_peaks[i]);
    Peak best = block_peak(mine);
    if (threadIdx.x == 0) {
        if (fabsf(best.val) < threshold)
            best.val = 0.0f;
        else {
            model[best.pos] += best.val * gain;
            ++*rounds;
        }
        *peak = best;
    }
}

extern "C" __global__ void subtract_beam(const float *__restrict__ beam, int beam_width, float *residual, int width,
                                         int height, const Peak *peak, int beam_peak_x, int beam_peak_y, float gain) {
    const Peak p = *peak;
    if (p.val == 0.0f)
        return;
    const int rx = p.pos % width, ry = p.pos / width;
    const int diff_x = rx - beam_peak_x, diff_y = ry - beam_peak_y;
    const int start_x = max(0, diff_x), start_y = max(0, diff_y);
    const int stop_x = min(width - 1, rx + (beam_width - beam_peak_x - 1));
    const int stop_y = min(height - 1, ry + (beam_width - beam_peak_y - 1));
    const int x = start_x + threadIdx.x + blockIdx.x * blockDim.x;
    const int y = start_y + threadIdx.y + blockIdx.y * blockDim.y;
    if (x <= stop_x && y <= stop_y)
        residual[y * width + x] -= gain * p.val * beam[(y - diff_y) * beam_width + (x - diff_x)];
}

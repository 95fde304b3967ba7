// The wavelet of JPEG 2000 with 9/7 taps by lifting: rows in shared memory, then stripes of 32 columns, levels in turn.
__constant__ float lift[4] = {-1.586134342f, -0.05298011854f, 0.8829110762f, 0.4435068522f};
__constant__ float gain = 1.149604398f;

__device__ __forceinline__ int mirrored(int i, int n) {
    return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
}

extern "C" __global__ void cdf97_rows(float *image, int pitch, int w) {
    extern __shared__ float line[];
    float *row = image + (size_t)blockIdx.x * pitch;
    for (int i = threadIdx.x; i < w; i += blockDim.x)
        line[i] = row[i];
#pragma unroll
    for (int step = 0; step < 4; step++) {
        __syncthreads();
        for (int i = 2 * threadIdx.x + 1 - (step & 1); i < w; i += 2 * blockDim.x)
            line[i] += lift[step] * (line[mirrored(i - 1, w)] + line[mirrored(i + 1, w)]);
    }
    __syncthreads();
    int half = (w + 1) / 2;
    for (int i = threadIdx.x; i < w; i += blockDim.x)
        row[i] = i < half ? line[2 * i] / gain : line[2 * (i - half) + 1] * gain;
}

extern "C" __global__ void cdf97_columns(float *image, int pitch, int w, int h) {
    extern __shared__ float stripe[];
    const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx;
    const bool in = x < w;
    for (int y = ty; y < h; y += blockDim.y)
        stripe[y * 32 + tx] = in ? image[(size_t)y * pitch + x] : 0.0f;
    for (int step = 0; step < 4; step++) {
        __syncthreads();
        for (int y = 2 * ty + 1 - (step & 1); y < h; y += 2 * blockDim.y)
            stripe[y * 32 + tx] +=
                lift[step] * (stripe[mirrored(y - 1, h) * 32 + tx] + stripe[mirrored(y + 1, h) * 32 + tx]);
    }
    __syncthreads();
    if (!in)
        return;
    int half = (h + 1) / 2;
    for (int y = ty; y < h; y += blockDim.y)
        image[(size_t)y * pitch + x] =
            y < half ? stripe[2 * y * 32 + tx] / gain : stripe[(2 * (y - half) + 1) * 32 + tx] * gain;
}

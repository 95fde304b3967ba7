// Non-local means: each pixel becomes the mean of its surroundings, weighted by how like its own patch theirs are.
#define BLOCK 16

template <int PATCH, int SEARCH>
__device__ float denoised(const float (*tile)[BLOCK + 2 * (PATCH + SEARCH)], int tx, int ty, float two_sigma2,
                          float inv_h2) {
    const int R = PATCH + SEARCH;
    const float inv_area = 1.0f / ((2 * PATCH + 1) * (2 * PATCH + 1));
    float sum = 0.0f, weights = 0.0f;
    for (int dy = -SEARCH; dy <= SEARCH; dy++)
        for (int dx = -SEARCH; dx <= SEARCH; dx++) {
            float distance = 0.0f;
            for (int py = -PATCH; py <= PATCH; py++)
                for (int px = -PATCH; px <= PATCH; px++) {
                    float d = tile[ty + R + py][tx + R + px] - tile[ty + R + dy + py][tx + R + dx + px];
                    distance += d * d;
                }
            distance = fmaxf(distance * inv_area - two_sigma2, 0.0f);
            float w = __expf(-distance * inv_h2);
            sum += w * tile[ty + R + dy][tx + R + dx];
            weights += w;
        }
    return sum / weights;
}

extern "C" __global__ void nlm(const unsigned char *__restrict__ image, float *__restrict__ out, int w, int h,
                               float sigma, float strength) {
    constexpr int PATCH = 2, SEARCH = 5, R = PATCH + SEARCH, SIDE = BLOCK + 2 * R;
    __shared__ float tile[SIDE][SIDE];
    int x0 = blockIdx.x * BLOCK - R, y0 = blockIdx.y * BLOCK - R;
    for (int y = threadIdx.y; y < SIDE; y += BLOCK)
        for (int x = threadIdx.x; x < SIDE; x += BLOCK) {
            int gx = min(max(x0 + x, 0), w - 1), gy = min(max(y0 + y, 0), h - 1);
            tile[y][x] = image[gy * w + gx] / 255.0f;
        }
    __syncthreads();
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y * BLOCK + threadIdx.y;
    if (x >= w || y >= h)
        return;
    out[y * w + x] = denoised<PATCH, SEARCH>(tile, threadIdx.x, threadIdx.y, 2.0f * sigma * sigma,
                                             1.0f / (strength * strength));
}

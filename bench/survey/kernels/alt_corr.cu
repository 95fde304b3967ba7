// Correlations that an optical flow network looks up around each pixel's current guess, without the volume of all pairs:
// a block has 4 x 8 pixels, brings 32 channels at a time, and adds each product to the four places it lies between.
#define BLOCK_H 4
#define BLOCK_W 8
#define BLOCK_HW (BLOCK_H * BLOCK_W)
#define CHANNEL_STRIDE 32

__forceinline__ __device__ bool within_bounds(int h, int w, int H, int W) { return h >= 0 && h < H && w >= 0 && w < W; }

// fmap1 [B][H1][W1][C], fmap2 [B][H2][W2][C], coords [B][H1][W1][2], corr [B][(2r+1)^2][H1][W1]
extern "C" __global__ void alt_corr(const float *__restrict__ fmap1, const float *__restrict__ fmap2,
                                    const float2 *__restrict__ coords, float *__restrict__ corr, int H1, int W1,
                                    int H2, int W2, int C, int r) {
    const int b = blockIdx.z;
    const int h0 = blockIdx.y * BLOCK_H, w0 = blockIdx.x * BLOCK_W;
    const int tid = threadIdx.y * BLOCK_W + threadIdx.x;
    const int h1 = h0 + threadIdx.y, w1 = w0 + threadIdx.x;

    __shared__ float f1[CHANNEL_STRIDE][BLOCK_HW + 1];
    __shared__ float f2[CHANNEL_STRIDE][BLOCK_HW + 1];
    __shared__ float x2s[BLOCK_HW];
    __shared__ float y2s[BLOCK_HW];

    const bool own = within_bounds(h1, w1, H1, W1);
    const float2 at = own ? coords[(b * H1 + h1) * W1 + w1] : make_float2(0, 0);
    x2s[tid] = at.x;
    y2s[tid] = at.y;
    const float dx = at.x - floorf(at.x), dy = at.y - floorf(at.y);
    const int rd = 2 * r + 1;
    float *mine = corr + (size_t)b * rd * rd * H1 * W1 + h1 * W1 + w1;

    for (int c = 0; c < C; c += CHANNEL_STRIDE) {
        __syncthreads();
        for (int k = 0; k < BLOCK_HW; k++) {
            int kh = h0 + k / BLOCK_W, kw = w0 + k % BLOCK_W;
            f1[tid][k] = within_bounds(kh, kw, H1, W1) ? fmap1[((b * H1 + kh) * W1 + kw) * C + c + tid] : 0.0f;
        }
        __syncthreads();
        for (int iy = 0; iy < rd + 1; iy++) {
            for (int ix = 0; ix < rd + 1; ix++) {
                for (int k = 0; k < BLOCK_HW; k++) {
                    int h2 = (int)floorf(y2s[k]) - r + iy;
                    int w2 = (int)floorf(x2s[k]) - r + ix;
                    f2[tid][k] = within_bounds(h2, w2, H2, W2) ? fmap2[((b * H2 + h2) * W2 + w2) * C + c + tid] : 0.0f;
                }
                __syncthreads();
                float s = 0.0f;
#pragma unroll
                for (int k = 0; k < CHANNEL_STRIDE; k++)
                    s += f1[k][tid] * f2[k][tid];
                if (own) {
                    if (iy > 0 && ix > 0)
                        mine[((iy - 1) * rd + ix - 1) * H1 * W1] += s * dy * dx;
                    if (iy > 0 && ix < rd)
                        mine[((iy - 1) * rd + ix) * H1 * W1] += s * dy * (1 - dx);
                    if (iy < rd && ix > 0)
                        mine[(iy * rd + ix - 1) * H1 * W1] += s * (1 - dy) * dx;
                    if (iy < rd && ix < rd)
                        mine[(iy * rd + ix) * H1 * W1] += s * (1 - dy) * (1 - dx);
                }
                __syncthreads();
            }
        }
    }
}

// 3 x 3 convolution of NHWC images with bias and ReLU, no im2col: a thread makes 2 x 4 pixels of one channel.
#define TH 2
#define TW 4

extern "C" __global__ void conv3_nhwc(const float *__restrict__ in, const float *__restrict__ weight,
                                      const float *__restrict__ bias, float *__restrict__ out, int h, int w,
                                      int channels, int filters) {
    int filter = blockIdx.y * blockDim.x + threadIdx.x;
    int tiles_x = (w + TW - 1) / TW, tiles_y = (h + TH - 1) / TH;
    int tile = blockIdx.x * blockDim.y + threadIdx.y;
    if (filter >= filters || tile >= tiles_x * tiles_y)
        return;
    int x0 = tile % tiles_x * TW, y0 = tile / tiles_x * TH;
    in += (size_t)blockIdx.z * h * w * channels;
    out += (size_t)blockIdx.z * h * w * filters;

    float acc[TH][TW];
#pragma unroll
    for (int i = 0; i < TH; i++)
#pragma unroll
        for (int j = 0; j < TW; j++)
            acc[i][j] = bias[filter];

    for (int c = 0; c < channels; c++) {
        float patch[TH + 2][TW + 2];
#pragma unroll
        for (int i = 0; i < TH + 2; i++)
#pragma unroll
            for (int j = 0; j < TW + 2; j++) {
                int y = y0 + i - 1, x = x0 + j - 1;
                bool inside = y >= 0 && y < h && x >= 0 && x < w;
                patch[i][j] = inside ? in[(y * w + x) * channels + c] : 0.0f;
            }
#pragma unroll
        for (int r = 0; r < 3; r++)
#pragma unroll
            for (int s = 0; s < 3; s++) {
                float k = weight[((r * 3 + s) * channels + c) * filters + filter];
#pragma unroll
                for (int i = 0; i < TH; i++)
#pragma unroll
                    for (int j = 0; j < TW; j++)
                        acc[i][j] += k * patch[i + r][j + s];
            }
    }

#pragma unroll
    for (int i = 0; i < TH; i++)
#pragma unroll
        for (int j = 0; j < TW; j++)
            if (y0 + i < h && x0 + j < w)
                out[((y0 + i) * w + x0 + j) * filters + filter] = fmaxf(acc[i][j], 0.0f);
}

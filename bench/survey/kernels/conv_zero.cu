// A filter of 5 x 5, zeros outside: a thread for each word of the tile with its halo, those inside compute.
#define R 2
#define T 16
#define S (T + 2 * R)

__constant__ float mask[2 * R + 1][2 * R + 1] = {{0.01f, 0.02f, 0.03f, 0.02f, 0.01f},
                                                 {0.02f, 0.05f, 0.08f, 0.05f, 0.02f},
                                                 {0.03f, 0.08f, 0.16f, 0.08f, 0.03f},
                                                 {0.02f, 0.05f, 0.08f, 0.05f, 0.02f},
                                                 {0.01f, 0.02f, 0.03f, 0.02f, 0.01f}};

extern "C" __global__ void conv_zero(const float *in, float *out, int w, int h) {
    __shared__ float tile[S][S];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    int r = row - R, c = col - R;
    if (r >= 0 && r < h && c >= 0 && c < w)
        tile[ty][tx] = in[r * w + c];
    else
        tile[ty][tx] = 0.0f;
    __syncthreads();
    if (tx < T && ty < T && row < h && col < w) {
        float sum = 0.0f;
        for (int i = 0; i < 2 * R + 1; i++)
            for (int j = 0; j < 2 * R + 1; j++)
                sum += mask[i][j] * tile[ty + i][tx + j];
        out[row * w + col] = sum;
    }
}

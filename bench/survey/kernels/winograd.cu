// Convolution of 3 x 3 by Winograd's F(2x2, 3x3): filters and tiles of 4 x 4 are transformed, 16 matrix products,
// and each tile gives 2 x 2 pixels, with bias and ReLU.
#define TS 16

// G g G^T, a thread for each pair of filter and channel
extern "C" __global__ void wino_filter(const float *__restrict__ weight, float *__restrict__ u, int K, int C) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= K * C)
        return;
    const float *g = weight + id * 9;
    float t[4][3];
#pragma unroll
    for (int j = 0; j < 3; j++) {
        float a = g[j], b = g[3 + j], c = g[6 + j];
        t[0][j] = a;
        t[1][j] = 0.5f * (a + b + c);
        t[2][j] = 0.5f * (a - b + c);
        t[3][j] = c;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float a = t[i][0], b = t[i][1], c = t[i][2];
        u[(i * 4 + 0) * K * C + id] = a;
        u[(i * 4 + 1) * K * C + id] = 0.5f * (a + b + c);
        u[(i * 4 + 2) * K * C + id] = 0.5f * (a - b + c);
        u[(i * 4 + 3) * K * C + id] = c;
    }
}

// B^T d B, a thread for each tile of each channel; padding of one pixel
extern "C" __global__ void wino_input(const float *__restrict__ input, float *__restrict__ v, int C, int H, int W,
                                      int tiles_y, int tiles_x) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int P = tiles_y * tiles_x;
    if (p >= P)
        return;
    int c = blockIdx.y;
    int y0 = (p / tiles_x) * 2 - 1, x0 = (p % tiles_x) * 2 - 1;
    const float *plane = input + (size_t)c * H * W;
    float d[4][4], t[4][4];
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int y = y0 + i, x = x0 + j;
            d[i][j] = (y >= 0 && y < H && x >= 0 && x < W) ? plane[y * W + x] : 0.0f;
        }
#pragma unroll
    for (int j = 0; j < 4; j++) {
        t[0][j] = d[0][j] - d[2][j];
        t[1][j] = d[1][j] + d[2][j];
        t[2][j] = d[2][j] - d[1][j];
        t[3][j] = d[1][j] - d[3][j];
    }
    size_t plane_size = (size_t)C * P, at = (size_t)c * P + p;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        v[(i * 4 + 0) * plane_size + at] = t[i][0] - t[i][2];
        v[(i * 4 + 1) * plane_size + at] = t[i][1] + t[i][2];
        v[(i * 4 + 2) * plane_size + at] = t[i][2] - t[i][1];
        v[(i * 4 + 3) * plane_size + at] = t[i][1] - t[i][3];
    }
}

// 16 products M = U V, in shared tiles
extern "C" __global__ void wino_gemm(const float *__restrict__ u, const float *__restrict__ v, float *__restrict__ m,
                                     int K, int C, int P) {
    __shared__ float us[TS][TS], vs[TS][TS];
    const float *a = u + (size_t)blockIdx.z * K * C;
    const float *b = v + (size_t)blockIdx.z * C * P;
    int row = blockIdx.y * TS + threadIdx.y, col = blockIdx.x * TS + threadIdx.x;
    float sum = 0.0f;
    for (int c0 = 0; c0 < C; c0 += TS) {
        int ac = c0 + threadIdx.x, br = c0 + threadIdx.y;
        us[threadIdx.y][threadIdx.x] = (row < K && ac < C) ? a[row * C + ac] : 0.0f;
        vs[threadIdx.y][threadIdx.x] = (br < C && col < P) ? b[br * P + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TS; k++)
            sum += us[threadIdx.y][k] * vs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < K && col < P)
        m[((size_t)blockIdx.z * K + row) * P + col] = sum;
}

// A^T m A, a thread for each tile of each filter
extern "C" __global__ void wino_output(const float *__restrict__ m, const float *__restrict__ bias,
                                       float *__restrict__ output, int K, int H, int W, int tiles_y, int tiles_x) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int P = tiles_y * tiles_x;
    if (p >= P)
        return;
    int k = blockIdx.y;
    float t[2][4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        float c[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            c[i] = m[((size_t)(i * 4 + j) * K + k) * P + p];
        t[0][j] = c[0] + c[1] + c[2];
        t[1][j] = c[1] - c[2] - c[3];
    }
    int y0 = (p / tiles_x) * 2, x0 = (p % tiles_x) * 2;
    float *plane = output + (size_t)k * H * W;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        if (y0 + i >= H)
            continue;
        float left = t[i][0] + t[i][1] + t[i][2] + bias[k], right = t[i][1] - t[i][2] - t[i][3] + bias[k];
        plane[(y0 + i) * W + x0] = fmaxf(left, 0.0f);
        if (x0 + 1 < W)
            plane[(y0 + i) * W + x0 + 1] = fmaxf(right, 0.0f);
    }
}

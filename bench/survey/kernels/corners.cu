// Harris's measure of corners by tiles: pixels, then Sobel's gradients, both in shared memory.
#define TILE 16
#define PIXELS (TILE + 4)
#define GRADIENTS (TILE + 2)

extern "C" __global__ void corners(const unsigned char *image, float *response, int w, int h, float k) {
    __shared__ float pixel[PIXELS][PIXELS];
    __shared__ float gx[GRADIENTS][GRADIENTS], gy[GRADIENTS][GRADIENTS];
    int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    int t = threadIdx.y * TILE + threadIdx.x;

    for (int i = t; i < PIXELS * PIXELS; i += TILE * TILE) {
        int ty = i / PIXELS, tx = i % PIXELS;
        int y = min(max(top + ty - 2, 0), h - 1), x = min(max(left + tx - 2, 0), w - 1);
        pixel[ty][tx] = image[y * w + x] / 255.0f;
    }
    __syncthreads();

    for (int i = t; i < GRADIENTS * GRADIENTS; i += TILE * TILE) {
        int y = i / GRADIENTS, x = i % GRADIENTS;
        gx[y][x] = pixel[y][x + 2] - pixel[y][x] + 2.0f * (pixel[y + 1][x + 2] - pixel[y + 1][x]) + pixel[y + 2][x + 2] -
                   pixel[y + 2][x];
        gy[y][x] = pixel[y + 2][x] - pixel[y][x] + 2.0f * (pixel[y + 2][x + 1] - pixel[y][x + 1]) + pixel[y + 2][x + 2] -
                   pixel[y][x + 2];
    }
    __syncthreads();

    int x = left + threadIdx.x, y = top + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float xx = 0.0f, yy = 0.0f, xy = 0.0f;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            float dx = gx[threadIdx.y + j][threadIdx.x + i], dy = gy[threadIdx.y + j][threadIdx.x + i];
            xx += dx * dx;
            yy += dy * dy;
            xy += dx * dy;
        }
    float trace = xx + yy;
    response[y * w + x] = xx * yy - xy * xy - k * trace * trace;
}

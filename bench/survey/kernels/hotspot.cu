// Heat of a chip: several steps of a tile in shared memory, whose edge shrinks with each.
#define B 16

extern "C" __global__ void hotspot(int steps, const float *power, const float *src, float *dst, int cols, int rows,
                                   float cap, float rx, float ry, float rz) {
    __shared__ float temp[B][B], watts[B][B], next[B][B];
    int tx = threadIdx.x, ty = threadIdx.y, inner = B - steps * 2;
    int y0 = inner * blockIdx.y - steps, x0 = inner * blockIdx.x - steps;
    int y = y0 + ty, x = x0 + tx, index = cols * y + x;
    if (y >= 0 && y < rows && x >= 0 && x < cols) {
        temp[ty][tx] = src[index];
        watts[ty][tx] = power[index];
    }
    __syncthreads();
    int ymin = y0 < 0 ? -y0 : 0, ymax = y0 + B - 1 > rows - 1 ? B - 1 - (y0 + B - rows) : B - 1;
    int xmin = x0 < 0 ? -x0 : 0, xmax = x0 + B - 1 > cols - 1 ? B - 1 - (x0 + B - cols) : B - 1;
    int n = ty - 1 < ymin ? ymin : ty - 1, s = ty + 1 > ymax ? ymax : ty + 1;
    int w = tx - 1 < xmin ? xmin : tx - 1, e = tx + 1 > xmax ? xmax : tx + 1;
    bool done;
    for (int i = 0; i < steps; i++) {
        done = false;
        if (tx >= i + 1 && tx <= B - i - 2 && ty >= i + 1 && ty <= B - i - 2 && tx >= xmin && tx <= xmax &&
            ty >= ymin && ty <= ymax) {
            done = true;
            next[ty][tx] = temp[ty][tx] + cap * (watts[ty][tx] + (temp[s][tx] + temp[n][tx] - 2.0f * temp[ty][tx]) * ry +
                                                 (temp[ty][e] + temp[ty][w] - 2.0f * temp[ty][tx]) * rx +
                                                 (80.0f - temp[ty][tx]) * rz);
        }
        __syncthreads();
        if (i == steps - 1)
            break;
        if (done)
            temp[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (done)
        dst[index] = next[ty][tx];
}

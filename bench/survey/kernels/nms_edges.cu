// Thins edges: a gradient stays where it is the largest along its direction (a step of Canny's method).
extern "C" __global__ void nms_edges(const float *mag, const unsigned char *dir, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int i = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        out[i] = 0;
        return;
    }
    float m = mag[i], a, b;
    switch (dir[i]) {
    case 0: a = mag[i - 1], b = mag[i + 1]; break;
    case 1: a = mag[i - w + 1], b = mag[i + w - 1]; break;
    case 2: a = mag[i - w], b = mag[i + w]; break;
    default: a = mag[i - w - 1], b = mag[i + w + 1];
    }
    out[i] = m >= a && m >= b ? m : 0.0f;
}

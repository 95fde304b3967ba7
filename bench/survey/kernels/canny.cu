// Canny's edges: blur, gradient with its direction, maxima along it, two thresholds, and weak edges next to strong ones.
__constant__ float gauss[5][5] = {
    {2, 4, 5, 4, 2}, {4, 9, 12, 9, 4}, {5, 12, 15, 12, 5}, {4, 9, 12, 9, 4}, {2, 4, 5, 4, 2}};

#define NONE 0
#define WEAK 1
#define STRONG 2

extern "C" __global__ void blur5(const unsigned char *image, float *blurred, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int sx = min(max(x + dx, 0), w - 1);
            int sy = min(max(y + dy, 0), h - 1);
            sum += gauss[dy + 2][dx + 2] * image[sy * w + sx];
        }
    blurred[y * w + x] = sum / 159.0f;
}

extern "C" __global__ void gradient(const float *blurred, float *magnitude, unsigned char *direction, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int i = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        magnitude[i] = 0.0f;
        direction[i] = 0;
        return;
    }
    const float *p = blurred + i;
    float gx = p[-w + 1] + 2.0f * p[1] + p[w + 1] - p[-w - 1] - 2.0f * p[-1] - p[w - 1];
    float gy = p[w - 1] + 2.0f * p[w] + p[w + 1] - p[-w - 1] - 2.0f * p[-w] - p[-w + 1];
    magnitude[i] = sqrtf(gx * gx + gy * gy);
    float angle = atan2f(gy, gx) * (180.0f / 3.14159265f);
    if (angle < 0.0f)
        angle += 180.0f;
    if (angle < 22.5f || angle >= 157.5f)
        direction[i] = 0;
    else if (angle < 67.5f)
        direction[i] = 1;
    else if (angle < 112.5f)
        direction[i] = 2;
    else
        direction[i] = 3;
}

extern "C" __global__ void suppress(const float *magnitude, const unsigned char *direction, unsigned char *edges, int w,
                                    int h, float low, float high) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int i = y * w + x;
    unsigned char state = NONE;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
        int step;
        switch (direction[i]) {
        case 0:
            step = 1;
            break;
        case 1:
            step = w + 1;
            break;
        case 2:
            step = w;
            break;
        default:
            step = w - 1;
        }
        float m = magnitude[i];
        if (m >= magnitude[i - step] && m >= magnitude[i + step])
            state = m >= high ? STRONG : m >= low ? WEAK : NONE;
    }
    edges[i] = state;
}

extern "C" __global__ void hysteresis(const unsigned char *edges, unsigned char *next, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    unsigned char state = edges[y * w + x];
    if (state == WEAK) {
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int sx = x + dx, sy = y + dy;
                if (sx >= 0 && sy >= 0 && sx < w && sy < h && edges[sy * w + sx] == STRONG)
                    state = STRONG;
            }
    }
    next[y * w + x] = state;
}

extern "C" __global__ void edge_image(const unsigned char *edges, unsigned char *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = edges[i] == STRONG ? 255 : 0;
}

// Detection of round cells in a microscope's frame: gradients, the gradient inverse coefficient of variation (GICOV)
// on circles of some radii around each pixel, and a dilation of the scores by a disc.
#define POINTS 32
#define RADII 4
#define MAX_RADIUS 14
#define STREL 11

__constant__ float sin_angle[POINTS] = {
    0.000000000f,  0.195090322f,  0.382683432f,  0.555570233f,  0.707106781f,  0.831469612f,  0.923879533f,
    0.980785280f,  1.000000000f,  0.980785280f,  0.923879533f,  0.831469612f,  0.707106781f,  0.555570233f,
    0.382683432f,  0.195090322f,  0.000000000f,  -0.195090322f, -0.382683432f, -0.555570233f, -0.707106781f,
    -0.831469612f, -0.923879533f, -0.980785280f, -1.000000000f, -0.980785280f, -0.923879533f, -0.831469612f,
    -0.707106781f, -0.555570233f, -0.382683432f, -0.195090322f};
__constant__ float cos_angle[POINTS] = {
    1.000000000f,  0.980785280f,  0.923879533f,  0.831469612f,  0.707106781f,  0.555570233f,  0.382683432f,
    0.195090322f,  0.000000000f,  -0.195090322f, -0.382683432f, -0.555570233f, -0.707106781f, -0.831469612f,
    -0.923879533f, -0.980785280f, -1.000000000f, -0.980785280f, -0.923879533f, -0.831469612f, -0.707106781f,
    -0.555570233f, -0.382683432f, -0.195090322f, 0.000000000f,  0.195090322f,  0.382683432f,  0.555570233f,
    0.707106781f,  0.831469612f,  0.923879533f,  0.980785280f};
__constant__ int radius_of[RADII] = {8, 10, 12, 14};

extern "C" __global__ void gicov_gradient(const unsigned char *__restrict__ frame, float *__restrict__ grad_x,
                                          float *__restrict__ grad_y, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int left = max(x - 1, 0), right = min(x + 1, width - 1);
    int up = max(y - 1, 0), down = min(y + 1, height - 1);
    grad_x[y * width + x] = 0.5f * (frame[y * width + right] - frame[y * width + left]);
    grad_y[y * width + x] = 0.5f * (frame[down * width + x] - frame[up * width + x]);
}

extern "C" __global__ void gicov_score(const float *__restrict__ grad_x, const float *__restrict__ grad_y,
                                       float *__restrict__ score, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    if (x < MAX_RADIUS || y < MAX_RADIUS || x >= width - MAX_RADIUS || y >= height - MAX_RADIUS) {
        score[y * width + x] = 0.0f;
        return;
    }

    float best = 0.0f;
    for (int k = 0; k < RADII; k++) {
        float along[POINTS];
        float sum = 0.0f;
        for (int n = 0; n < POINTS; n++) {
            int px = x + __float2int_rn(radius_of[k] * cos_angle[n]);
            int py = y + __float2int_rn(radius_of[k] * sin_angle[n]);
            int at = py * width + px;
            along[n] = grad_x[at] * cos_angle[n] + grad_y[at] * sin_angle[n];
            sum += along[n];
        }
        float mean = sum / POINTS;
        float variance = 0.0f;
        for (int n = 0; n < POINTS; n++) {
            float d = along[n] - mean;
            variance += d * d;
        }
        variance /= POINTS - 1;
        float value = mean * mean / variance;
        if (value > best)
            best = value;
    }
    score[y * width + x] = best;
}

extern "C" __global__ void gicov_dilate(const float *__restrict__ score, const unsigned char *__restrict__ strel,
                                        float *__restrict__ dilated, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int half = STREL / 2;
    float most = 0.0f;
    for (int i = 0; i < STREL; i++) {
        int py = y - half + i;
        if (py < 0 || py >= height)
            continue;
        for (int j = 0; j < STREL; j++) {
            int px = x - half + j;
            if (px >= 0 && px < width && strel[i * STREL + j] != 0) {
                float v = score[py * width + px];
                if (v > most)
                    most = v;
            }
        }
    }
    dilated[y * width + x] = most;
}

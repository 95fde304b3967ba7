// Samples of an image to coefficients of cubic B-splines, in place: a thread runs a recursive filter forth and back
// along a row, and then along a column. Rows have a pitch in bytes.
#define POLE (-0.267949192431122706f)  // sqrt(3) - 2

__device__ float causal_start(const float *c, int n, int step) {
    int horizon = min(12, n);
    float sum = *c, power = POLE;
    for (int k = 1; k < horizon; k++) {
        c = (const float *)((const unsigned char *)c + step);
        sum += power * *c;
        power *= POLE;
    }
    return sum;
}

__device__ void to_coefficients(float *coeffs, unsigned n, int step) {
    const float lambda = (1.0f - POLE) * (1.0f - 1.0f / POLE);
    float *c = coeffs, previous;
    *c = previous = lambda * causal_start(c, n, step);
    for (unsigned k = 1; k < n; k++) {
        c = (float *)((unsigned char *)c + step);
        *c = previous = lambda * *c + POLE * previous;
    }
    *c = previous = (POLE / (POLE - 1.0f)) * previous;
    for (int k = (int)n - 2; k >= 0; k--) {
        c = (float *)((unsigned char *)c - step);
        *c = previous = POLE * (previous - *c);
    }
}

extern "C" __global__ void coefficients_x(float *image, unsigned pitch, unsigned width, unsigned height) {
    const unsigned y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height)
        return;
    float *line = (float *)((unsigned char *)image + (size_t)y * pitch);
    to_coefficients(line, width, sizeof(float));
}

extern "C" __global__ void coefficients_y(float *image, unsigned pitch, unsigned width, unsigned height) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    to_coefficients(image + x, height, pitch);
}

// Otsu's threshold: a colour picture to grey, its histogram by atomics in global memory, the variance between
// the two classes for each threshold (a thread each), the best one, and the picture in black and white.
struct Pixel {
    unsigned char r, g, b;
};

extern "C" __global__ void to_grey(const Pixel *picture, unsigned char *grey, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        Pixel p = picture[y * width + x];
        grey[y * width + x] = 0.299 * p.r + 0.587 * p.g + 0.114 * p.b;
    }
}

extern "C" __global__ void count_greys(const unsigned char *grey, int *histogram, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        atomicAdd(&histogram[grey[y * width + x]], 1);
}

extern "C" __global__ void between(const int *histogram, double *variance, int n) {
    int t = threadIdx.x;
    double w0 = 0, w1 = 0, s0 = 0, s1 = 0;
    for (int i = 0; i < 256; i++) {
        if (i <= t) {
            w0 += histogram[i];
            s0 += i * (double)histogram[i];
        } else {
            w1 += histogram[i];
            s1 += i * (double)histogram[i];
        }
    }
    if (w0 == 0 || w1 == 0)
        variance[t] = 0;
    else
        variance[t] = w0 / n * (w1 / n) * pow(s0 / w0 - s1 / w1, 2);
}

extern "C" __global__ void best_threshold(const double *variance, int *threshold) {
    double most = -1;
    for (int t = 0; t < 256; t++)
        if (variance[t] > most) {
            most = variance[t];
            *threshold = t;
        }
}

extern "C" __global__ void binarize(const unsigned char *grey, unsigned char *out, const int *threshold, int width,
                                    int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    out[y * width + x] = grey[y * width + x] > *threshold ? 255 : 0;
}

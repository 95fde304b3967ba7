// Floyd and Steinberg's dithering to a few shades: a block an image in shared memory, a thread a row, which is three
// pixels behind the row above.
extern "C" __global__ void dither(const unsigned char *images, unsigned char *output, int width, int height,
                                  int shades) {
    extern __shared__ short pixel[];
    const unsigned char *image = images + (size_t)blockIdx.x * width * height;
    unsigned char *out = output + (size_t)blockIdx.x * width * height;
    for (int i = threadIdx.x; i < width * height; i += blockDim.x)
        pixel[i] = image[i];
    __syncthreads();
    int row = threadIdx.x;
    int step = 255 / (shades - 1);
    for (int t = 0; t < width + 3 * (height - 1); t++) {
        int column = t - 3 * row;
        if (row < height && column >= 0 && column < width) {
            short *here = &pixel[row * width + column];
            int old = *here;
            int level = (old + step / 2) / step;
            level = level < 0 ? 0 : level > shades - 1 ? shades - 1 : level;
            int shade = level * step;
            int error = old - shade;
            *here = shade;
            if (column + 1 < width)
                here[1] += error * 7 / 16;
            if (row + 1 < height) {
                if (column > 0)
                    here[width - 1] += error * 3 / 16;
                here[width] += error * 5 / 16;
                if (column + 1 < width)
                    here[width + 1] += error * 1 / 16;
            }
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < width * height; i += blockDim.x)
        out[i] = (unsigned char)pixel[i];
}

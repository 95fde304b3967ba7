// Raw pixels of a camera (RGGB) to colours: missing ones from neighbours, white balance, and gamma out of a table.
__device__ int mirrored(int i, int n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }

__device__ unsigned char developed(int value, int black, float gain, const unsigned char *table) {
    float v = (float)(value - black) * gain;
    int i = (int)(v + 0.5f);
    i = i < 0 ? 0 : i > 4095 ? 4095 : i;
    return table[i];
}

extern "C" __global__ void bayer(const unsigned short *raw, const unsigned char *table, uchar3 *image, int width,
                                 int height, int black, float red_gain, float green_gain, float blue_gain) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int left = mirrored(x - 1, width), right = mirrored(x + 1, width);
    int up = mirrored(y - 1, height), down = mirrored(y + 1, height);
    int centre = raw[y * width + x];
    int w = raw[y * width + left], e = raw[y * width + right];
    int n = raw[up * width + x], s = raw[down * width + x];
    int nw = raw[up * width + left], ne = raw[up * width + right];
    int sw = raw[down * width + left], se = raw[down * width + right];
    int corners = nw + ne + sw + se;
    int r, g, b;
    if (y % 2 == 0) {
        if (x % 2 == 0) {
            r = centre;
            g = (n + s + w + e + 2) / 4;
            b = (corners + 2) / 4;
        } else {
            r = (w + e + 1) / 2;
            g = centre;
            b = (n + s + 1) / 2;
        }
    } else {
        if (x % 2 == 0) {
            r = (n + s + 1) / 2;
            g = centre;
            b = (w + e + 1) / 2;
        } else {
            r = (corners + 2) / 4;
            g = (n + s + w + e + 2) / 4;
            b = centre;
        }
    }
    image[y * width + x] =
        make_uchar3(developed(r, black, red_gain, table), developed(g, black, green_gain, table),
                    developed(b, black, blue_gain, table));
}

// The least of a pixel's neighbours within a radius, of those that there are.
extern "C" __global__ void erode(const unsigned char *in, unsigned char *out, int w, int h, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    unsigned char least = 255;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
            int nx = x + dx, ny = y + dy;
            if (nx >= 0 && nx < w && ny >= 0 && ny < h) {
                unsigned char v = in[ny * w + nx];
                if (v < least)
                    least = v;
            }
        }
    out[y * w + x] = least;
}

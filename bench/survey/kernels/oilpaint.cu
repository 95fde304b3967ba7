// A photo as if painted in oil: of the pixels around each one, the mean colour of those of the most frequent
// brightness (of `levels`), counted in arrays of the thread. RGB side by side, rows padded.
#define MAX_LEVELS 24

extern "C" __global__ void oilpaint(const unsigned char *input, unsigned char *output, int width, int height,
                                    size_t pitch, int radius, int levels) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int count[MAX_LEVELS], red[MAX_LEVELS], green[MAX_LEVELS], blue[MAX_LEVELS];
    for (int i = 0; i < levels; i++)
        count[i] = red[i] = green[i] = blue[i] = 0;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            int px = x + dx, py = y + dy;
            if (px < 0 || px >= width || py < 0 || py >= height)
                continue;
            const unsigned char *p = input + py * pitch + px * 3;
            int level = (int)((p[0] + p[1] + p[2]) / 3.0 * levels / 256.0);
            count[level]++;
            red[level] += p[0];
            green[level] += p[1];
            blue[level] += p[2];
        }
    }
    int best = 0;
    for (int i = 1; i < levels; i++)
        if (count[i] > count[best])
            best = i;
    unsigned char *out = output + y * pitch + x * 3;
    out[0] = red[best] / count[best];
    out[1] = green[best] / count[best];
    out[2] = blue[best] / count[best];
}

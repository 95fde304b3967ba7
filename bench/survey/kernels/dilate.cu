// The largest neighbour under a mask of 7 x 7.
extern "C" __global__ void dilate(const unsigned char *in, const unsigned char *shape, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    unsigned char most = 0;
    for (int j = 0; j < 7; j++) {
        int yy = y + j - 3;
        if (yy < 0 || yy >= h)
            continue;
        for (int i = 0; i < 7; i++) {
            int xx = x + i - 3;
            if (xx < 0 || xx >= w || !shape[j * 7 + i])
                continue;
            most = max(most, in[yy * w + xx]);
        }
    }
    out[y * w + x] = most;
}

// Seam carving: the energy of pixels, the cheapest way down to each (a launch a row), one thread that follows
// the seam upwards, and a thread a row that takes its pixel out. Once for each seam.
extern "C" __global__ void seam_energy(const unsigned char *image, int *energy, int w, int h, int stride) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int left = (x - 1 + w) % w, right = (x + 1) % w;
    int up = (y - 1 + h) % h, down = (y + 1) % h;
    energy[y * stride + x] = abs(image[y * stride + right] - image[y * stride + left]) +
                             abs(image[down * stride + x] - image[up * stride + x]);
}

extern "C" __global__ void seam_row(const int *energy, int *cost, int y, int w, int stride) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < w) {
        int best = 0;
        if (y > 0) {
            best = cost[(y - 1) * stride + x];
            if (x > 0)
                best = min(best, cost[(y - 1) * stride + x - 1]);
            if (x < w - 1)
                best = min(best, cost[(y - 1) * stride + x + 1]);
        }
        cost[y * stride + x] = energy[y * stride + x] + best;
    }
}

extern "C" __global__ void seam_trace(const int *cost, int *seams, int s, int w, int h, int stride) {
    int x = 0;
    for (int i = 1; i < w; i++)
        if (cost[(h - 1) * stride + i] < cost[(h - 1) * stride + x])
            x = i;
    seams[s * h + h - 1] = x;
    for (int y = h - 2; y >= 0; y--) {
        int best = x;
        if (x > 0 && cost[y * stride + x - 1] < cost[y * stride + best])
            best = x - 1;
        if (x < w - 1 && cost[y * stride + x + 1] < cost[y * stride + best])
            best = x + 1;
        x = best;
        seams[s * h + y] = x;
    }
}

extern "C" __global__ void seam_remove(unsigned char *image, const int *seams, int s, int w, int h, int stride) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < h)
        for (int x = seams[s * h + y]; x < w - 1; x++)
            image[y * stride + x] = image[y * stride + x + 1];
}

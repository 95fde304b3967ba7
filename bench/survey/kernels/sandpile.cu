// A sandpile: cells with four grains or more give one to each neighbour, all at once; grains fall off the edge.
// How many grains move is counted in each round.
extern "C" __global__ void sandpile(int *now, int *next, int *toppled, int round, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        int grains = now[y * w + x];
        next[y * w + x] = grains % 4;
        if (x > 0)
            next[y * w + x] += now[y * w + x - 1] / 4;
        if (x < w - 1)
            next[y * w + x] += now[y * w + x + 1] / 4;
        if (y > 0)
            next[y * w + x] += now[(y - 1) * w + x] / 4;
        if (y < h - 1)
            next[y * w + x] += now[(y + 1) * w + x] / 4;
        if (grains >= 4)
            atomicAdd(&toppled[round], grains / 4 * 4);
    }
}

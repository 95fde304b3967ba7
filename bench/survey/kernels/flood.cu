// A step of filling regions: the least label of a cell and its neighbours of the same colour.
extern "C" __global__ void flood(const int *colour, const int *label, int *next, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int i = y * w + x, c = colour[i], least = label[i];
    if (x > 0 && colour[i - 1] == c)
        least = min(least, label[i - 1]);
    if (x < w - 1 && colour[i + 1] == c)
        least = min(least, label[i + 1]);
    if (y > 0 && colour[i - w] == c)
        least = min(least, label[i - w]);
    if (y < h - 1 && colour[i + w] == c)
        least = min(least, label[i + w]);
    next[i] = least;
}
